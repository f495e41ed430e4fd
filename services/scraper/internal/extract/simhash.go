package extract

// simhash is Charikar's fingerprint over the text's runs of three words: texts
// that share most of them differ in few of its 64 bits.
func simhash(text string) uint64 {
	const run = 3
	tokens := tokensOf(text)
	if len(tokens) == 0 {
		return 0
	}
	var votes [64]int
	for i := 0; i < max(1, len(tokens)-run+1); i++ {
		h := finish(mix(tokens[i:min(i+run, len(tokens))]))
		for bit := range votes {
			votes[bit] += int(h>>bit&1)*2 - 1
		}
	}
	fingerprint := uint64(0)
	for bit, n := range votes {
		if n > 0 {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint
}

// finish spreads a hash over all its bits.
func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
