package extract

import "strings"

// phraseCount is how many families of set phrases are told apart.
const phraseCount = 8

// setPhrases are what the furniture of pages says, by family, in the languages
// that are common on the web. One that begins with a caret counts only where a
// text begins with it.
var setPhrases = [phraseCount][]string{
	{"copyright", "all rights reserved", "terms of use", "terms of service", "terms and conditions", "privacy policy", "impressum", "alle rechte", "tous droits", "todos los derechos", "datenschutz", "©"},
	{"cookie", "cookies", "javascript", "browser", "gdpr", "consent"},
	{"subscribe", "subscribers", "newsletter", "newsletters", "signup", "sign up", "inbox", "abonnieren", "abonnez", "suscríbete", "email address", "e mail address", "email updates", "free trial", "get started", "join now", "join us"},
	{"^share", "^tweet", "^pin", "^print", "^email", "^copy", "^save", "^facebook", "^twitter", "^linkedin", "^whatsapp", "^follow", "share this", "share on", "share via", "follow us", "teilen", "partager", "compartir", "click to share"},
	{"read more", "read also", "also read", "see also", "more from", "more on", "more stories", "more news", "related", "you may like", "you may also", "you might also", "might also like", "recommended", "trending", "most read", "most popular", "continue reading", "view all", "view more", "see all", "load more", "show more", "learn more", "lire aussi", "lesen sie", "mehr zum", "leia mais", "leer más", "up next", "don t miss", "what to read next", "click here", "read next"},
	{"log in", "sign in", "login", "my account", "add to cart", "add to bag", "add to basket", "wishlist", "wish list", "checkout", "register", "join date", "joined", "posts", "reply", "replies", "view", "views", "quote", "report post", "report abuse", "leave a comment", "leave a reply", "post a comment", "comment", "comments", "likes", "upvote", "permalink"},
	{"^by", "^written by", "^posted by", "^posted on", "^published", "^updated", "last updated", "last modified", "^edited", "^von", "^par", "^por", "^photo", "^image", "^credit", "^source", "^photograph", "min read", "minute read", "contributed to this", "staff writer", "reporting by", "editing by", "is a reporter", "is a freelance", "follow her on", "follow him on"},
	{"advertisement", "advert", "sponsored", "promoted", "affiliate", "commission", "partner content", "disclosure"},
}

// phrase is one of setPhrases, cut into words.
type phrase struct {
	words  []string
	family int
	begins bool
}

var phrasesByWord = buildPhrases()

func buildPhrases() map[string][]phrase {
	m := map[string][]phrase{}
	for family, list := range setPhrases {
		for _, text := range list {
			rest, begins := strings.CutPrefix(text, "^")
			words := strings.Fields(rest)
			m[words[0]] = append(m[words[0]], phrase{words: words, family: family, begins: begins})
		}
	}
	return m
}

// phrasesIn tells which families a text in lower case has a phrase of.
func phrasesIn(text string) [phraseCount]bool {
	var found [phraseCount]bool
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '©' && !isWord(r) })
	for i, w := range words {
		for _, p := range phrasesByWord[w] {
			if !found[p.family] && (i == 0 || !p.begins) && follows(words[i:], p.words) {
				found[p.family] = true
			}
		}
	}
	return found
}

func follows(words, wanted []string) bool {
	if len(words) < len(wanted) {
		return false
	}
	for i, w := range wanted {
		if words[i] != w {
			return false
		}
	}
	return true
}
