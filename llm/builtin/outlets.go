package builtin

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	beforeOutlet = regexp.MustCompile(`(?i)\b(?:(?:article|articles|report|reports|piece|coverage|story|stories|review|post|analysis|analyses|updates|interview|column|feature|editorial|publication)s?(?: published| written| featured)? (?:from|by|in|on|of|at)|(?:published|reported|covered|discussed|described|portrayed|mentioned|noted|featured|written|according|by both) (?:by|in|on|to)(?: both)?|according to|by both|both)\s+(?:the\s+)?["“'‘]?$`)
	afterOutlet  = regexp.MustCompile(`(?i)^["”'’]?(?:'s|’s)?\s+(?:news\s+|recent\s+|online\s+)?(?:article|articles|report|reports|piece|coverage|story|stories|column|editorial|reported|reports|publication)\b`)
)

// splitOutlets parts the names of a prompt into what it is about and where it says
// that something was reported. The first are looked for in sentences; the second
// help to find a page and say nothing about what stands on it.
func splitOutlets(prompt string, all []string) ([]string, []string) {
	var names, outlets []string
	for _, name := range all {
		at := strings.Index(prompt, name)
		if at < 0 {
			names = append(names, name)
			continue
		}
		before, after := prompt[:at], prompt[at+len(name):]
		if beforeOutlet.MatchString(before) || afterOutlet.MatchString(after) || strings.HasSuffix(before, " and ") && len(outlets) > 0 && endsWithOutlet(before, outlets) {
			outlets = append(outlets, name)
			continue
		}
		names = append(names, name)
	}
	return names, outlets
}

// endsWithOutlet is true for the "The Verge and " before another outlet.
func endsWithOutlet(before string, outlets []string) bool {
	before = strings.TrimRight(strings.TrimSuffix(before, " and "), `"'”’ ,`)
	return strings.HasSuffix(before, outlets[len(outlets)-1])
}

// fromOutlet says whether a page's address is that of one of the outlets.
func fromOutlet(address string, outlets []string) bool {
	address = lettersOf(address)
	for _, outlet := range outlets {
		outlet = lettersOf(strings.TrimPrefix(strings.ToLower(outlet), "the "))
		if len(outlet) > 3 && strings.Contains(address, outlet) {
			return true
		}
	}
	return false
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
