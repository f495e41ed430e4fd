package builtin

import (
	"regexp"
	"strings"
)

var (
	furnitureText = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
		`cookies?\b.{0,60}\b(?:accept|consent|settings|policy|device|experience|browser)`, `accept (?:all )?cookies`, `our \d* ?partners store`,
		`store and(?:/or)? access information on`, `sign(?:ing)? up (?:for|to) (?:our|the|a)\b`, `subscribe (?:to|for|now|today)`, `unsubscribe at any time`,
		`newsletters?\b.{0,40}\b(?:inbox|sign|subscribe|email)`, `all rights reserved`, `terms (?:of (?:use|service)|and conditions) (?:apply|and)`, `privacy policy`,
		`click (?:here|on the|the link)`, `read (?:more|the full|next|our)\b`, `share (?:this|on) (?:article|story|page|post|facebook|twitter)`, `follow us on`,
		`(?:log|sign) in to (?:your|continue|view|comment)`, `create an? (?:free )?account`, `advertisement`, `sponsored content`, `affiliate (?:links?|commission)`,
		`we may (?:earn|receive) (?:a )?commission`, `enable javascript`, `your browser (?:does not|doesn't)`, `this (?:site|website) uses`, `download (?:the|our) app`,
		`photo(?:graph)? (?:by|credit)`, `image credits?`, `getty images`, `view (?:image|gallery) in`, `skip to (?:main )?content`, `add to (?:cart|basket)`, `free shipping`,
		`in your inbox`, `leave a (?:comment|reply)`, `comments are closed`, `thanks for (?:reading|sharing|subscribing)`, `you must be logged in`, `support our journalism`,
		`this (?:article|story|post) (?:was )?(?:originally|first) (?:appeared|published)`, `reprints? (?:and|&) permissions`, `doi\.org/\S+$`, `stay tuned`, `table of contents`,
		`already a (?:subscriber|member)`, `become a (?:subscriber|member)`, `free trial`, `please (?:consider|contact us|email|enter|try again|sign|log)`, `let us know in the comments`,
		`watch (?:the video|below|now|live)`, `listen to (?:the|our) podcast`, `check out (?:our|the|these|this)`, `related (?:articles|stories|posts)`,
		`^(?:this page was )?last (?:reviewed|updated|modified|edited|changed)\b`, `(?:essay|paper)s? (?:writing )?service`, `get (?:your|the) (?:paper|essay)`,
	}, `|`) + `)`)
	furnitureHead = regexp.MustCompile(`(?i)^(?:references?|bibliography|external links|see also|further reading|related (?:articles|stories|posts|content|links|reading)|` +
		`comments?(?: \(\d+\))?|leave a (?:reply|comment)|newsletter|sign up.*|share this.*|more from.*|most (?:read|popular).*|about the authors?|author information|footnotes|notes|` +
		`sources|works cited|contact(?: us)?|navigation(?: menu)?|menu|tags|categories|advertisement|acknowledge?ments?|competing interests|funding|cookie.*|subscribe.*|you (?:may|might) also like.*|recommended.*|citations?|similar articles|cited by)$`)
	linkText = regexp.MustCompile(`\[[^\]\n]*\]\([^)\n]*\)`)
	bareURL  = regexp.MustCompile(`https?://\S+`)
)

// longestFurniture bounds what is taken for furniture by its words: a long
// sentence that has them is more likely to be about them.
const longestFurniture = 240

// furniture says whether a sentence belongs to the site and not to the page.
func furniture(claim string) bool {
	if len(claim) <= longestFurniture && furnitureText.MatchString(claim) {
		return true
	}
	// A line of codes, figures or addresses: letters are too few.
	letters, others := 0, 0
	for _, r := range claim {
		switch {
		case r >= '0' && r <= '9', r == '/', r == '|', r == '=', r == '_', r == '{', r == '}', r == '<', r == '#', r == '•', r == '·', r == '›', r == '»':
			others++
		case r != ' ':
			letters++
		}
	}
	return 2*others > letters || strings.Count(claim, " | ") > 1 || strings.Count(claim, " · ") > 1 || strings.Count(claim, "›") > 1
}

// furnitureBlock says whether a whole block is no content: it stands under a
// heading such as "References", or is nearly nothing but links.
func furnitureBlock(markdown string, path []string) bool {
	if len(path) > 0 && furnitureHead.MatchString(strings.TrimSpace(path[len(path)-1])) {
		return true
	}
	if len(markdown) > longestText/64 {
		return false
	}
	linked := 0
	for _, link := range linkText.FindAllString(markdown, -1) {
		linked += len(link)
	}
	for _, address := range bareURL.FindAllString(linkText.ReplaceAllString(markdown, ""), -1) {
		linked += len(address)
	}
	return 10*linked > 8*len(markdown)
}

// navigation says whether a table's row leads to other pages.
func navigation(row []string) bool {
	for _, cell := range row {
		switch strings.ToLower(cell) {
		case "prev", "previous", "next", "up", "home":
			return true
		}
	}
	return false
}
