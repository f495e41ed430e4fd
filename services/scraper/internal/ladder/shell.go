package ladder

import (
	"strconv"
	"strings"
)

// NeedsScripts reports whether a web page has next to nothing to read before its
// scripts ran, and what shows it.
func NeedsScripts(body []byte) (bool, string) {
	return outlineOf(body).needsScripts()
}

// How many letters a page shows before its scripts ran, when it is hardly anything,
// and when it may be menus and footers around an empty middle.
const (
	hardlyAnything = 150
	onlyFurniture  = 2000
)

func (o outline) needsScripts() (bool, string) {
	switch {
	case o.scripts == 0:
		return false, ""
	case o.letters < hardlyAnything:
		return true, "only " + strconv.Itoa(o.letters) + " letters without scripts"
	case o.letters >= onlyFurniture:
		return false, ""
	case o.emptyRoot != "":
		return true, "shell of an application: " + o.emptyRoot + " is empty"
	case asksForScripts(o.noscript):
		return true, "the page asks for JavaScript"
	case o.emptyMain:
		return true, "shell of an application: main is empty"
	default:
		return false, ""
	}
}

func asksForScripts(text string) bool {
	text = strings.ToLower(text)
	if !strings.Contains(text, "javascript") {
		return false
	}
	for _, word := range []string{"enable", "need", "require", "disabled", "turn on", "activate", "aktivier", "activer", "habilit", "without"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
