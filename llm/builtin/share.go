package builtin

import (
	"hash/fnv"
	"sort"
	"strings"
)

// share is a query's part of what can be asked. Parents that are planned at the same
// time don't see each other's children, but they see each other: what one asks is
// given to one of them by rendezvous hashing, so that no two ask the same.
type share struct {
	own    uint64
	rivals []uint64
}

// newShare parts the askable between own and the queries that exist.
func newShare(own string, taken []string) *share {
	s := &share{own: hash(fold(own))}
	seen := map[uint64]bool{s.own: true}
	for _, text := range taken {
		if rival := hash(fold(text)); !seen[rival] {
			seen[rival] = true
			s.rivals = append(s.rivals, rival)
		}
	}
	return s
}

// has says whether a query of these terms falls to the share.
func (s *share) has(terms termSet) bool {
	list := make([]string, 0, len(terms))
	for term := range terms {
		list = append(list, term)
	}
	sort.Strings(list)
	key := hash(strings.Join(list, " "))
	own := mix(key ^ s.own)
	for _, rival := range s.rivals {
		if mix(key^rival) > own {
			return false
		}
	}
	return true
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return mix(h.Sum64())
}

// mix is the finaliser of SplitMix64: alike keys come out unlike.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
