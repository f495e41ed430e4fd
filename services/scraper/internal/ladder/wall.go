package ladder

import (
	"net/http"
	"strings"
)

// wallText is the most letters that a wall shows; a page with more text may speak
// of walls, but is none.
const wallText = 1200

// bareRefusal is a wall that does not say that it is one.
const bareRefusal = "answered 403"

// wall names the bot wall that an answer is, or is empty.
func wall(status int, header http.Header, body []byte, o outline) string {
	if header.Get("Cf-Mitigated") == "challenge" {
		return "Cloudflare"
	}
	if header.Get("X-Amzn-Waf-Action") != "" {
		return "AWS WAF"
	}
	if o.letters > wallText {
		return ""
	}
	head := strings.ToLower(string(body[:min(len(body), 64<<10)]))
	for _, sign := range wallSigns() {
		if strings.Contains(head, sign.text) {
			return sign.name
		}
	}
	seen := strings.ToLower(o.title + " " + o.text)
	for _, phrase := range wallPhrases() {
		if strings.Contains(seen, phrase) {
			return "it says " + strings.TrimSpace(phrase)
		}
	}
	// A browser is the only thing left to try against a bare refusal.
	if status == http.StatusForbidden {
		return bareRefusal
	}
	return ""
}

type wallSign struct{ text, name string }

// wallSigns are what the challenge pages of the known walls are made of, and
// ordinary pages are not.
func wallSigns() []wallSign {
	return []wallSign{
		{"window._cf_chl_opt", "Cloudflare"},
		{"cf-browser-verification", "Cloudflare"},
		{"captcha-delivery.com", "DataDome"},
		{"_incapsula_resource", "Imperva"},
		{"px-captcha", "HUMAN"},
		{"/_sec/cp_challenge", "Akamai"},
		{"errors.edgesuite.net", "Akamai"},
		{"kpsdk", "Kasada"},
		{"awswafcookiedomainlist", "AWS WAF"},
		{"ddos-guard/js-challenge", "DDoS-Guard"},
		{"sucuri_cloudproxy", "Sucuri"},
		{"/.within.website/x/cmd/anubis", "Anubis"},
	}
}

func wallPhrases() []string {
	return []string{
		"just a moment...",
		"checking your browser",
		"verify you are human",
		"verifying you are human",
		"are you a robot",
		"pardon our interruption",
		"unusual traffic from your",
		"enable javascript and cookies to continue",
		"please enable js and disable any ad blocker",
		"attention required! | cloudflare",
	}
}
