package normalize

import (
	"net/url"
	"slices"
	"strings"
)

// trackingPrefixes begin the names of parameters that only say where a reader came from.
var trackingPrefixes = []string{"utm_", "mtm_", "matomo_", "piwik_", "hsa_", "vero_", "oly_", "stm_"}

// trackingNames are single parameters of that sort. Names that some sites use for
// content too (ref, source, id) are not among them: to lose a page is worse than to
// fetch one twice.
var trackingNames = []string{
	"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid",
	"fbclid", "igshid", "igsh", "msclkid", "twclid", "ttclid", "li_fat_id", "yclid", "ysclid",
	"_openstat", "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp",
	"hsctatracking", "s_cid", "wickedid", "rb_clickid", "epik", "_ga", "_gl", "irclickid", "cmpid",
	"spm", "scm", "at_medium", "at_campaign", "ns_mchannel", "ns_campaign", "ns_source", "guccounter",
	"guce_referrer", "guce_referrer_sig",
}

// query returns the query part without tracking parameters, with its question mark,
// or nothing when no parameter is left. Order and spelling of the others stay: a
// server may tell them apart.
func query(raw string) string {
	kept := slices.DeleteFunc(strings.Split(raw, "&"), func(parameter string) bool {
		name, _, _ := strings.Cut(parameter, "=")
		return parameter == "" || tracks(name)
	})
	if len(kept) == 0 {
		return ""
	}
	return "?" + strings.Join(kept, "&")
}

func tracks(name string) bool {
	decoded, err := url.QueryUnescape(name)
	if err != nil {
		return false
	}
	lower := strings.ToLower(decoded)
	return slices.Contains(trackingNames, lower) ||
		slices.ContainsFunc(trackingPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}
