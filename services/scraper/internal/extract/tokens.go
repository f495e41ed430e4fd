package extract

import "unicode"

// tokensOf hashes the words of a text: maximal runs of letters, numbers and
// underscores, without regard to case.
func tokensOf(text string) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	var tokens []uint64
	hash, inside := uint64(offset), false
	for _, r := range text {
		if !isWord(r) {
			if inside {
				tokens = append(tokens, hash)
				hash, inside = offset, false
			}
			continue
		}
		hash = (hash ^ uint64(unicode.ToLower(r))) * prime
		inside = true
	}
	if inside {
		tokens = append(tokens, hash)
	}
	return tokens
}

func countWords(text string) int {
	n, inside := 0, false
	for _, r := range text {
		word := isWord(r)
		if word && !inside {
			n++
		}
		inside = word
	}
	return n
}

func isWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
