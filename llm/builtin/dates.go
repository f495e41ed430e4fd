package builtin

import (
	"regexp"
	"strings"
)

const (
	monthNames = `(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\.?`
	yearDigits = `(?:1[5-9]\d\d|20\d\d)`
)

var (
	dateExpression = regexp.MustCompile(`\b(?:` + monthNames + ` \d{1,2}(?:st|nd|rd|th)?(?:,? ` + yearDigits + `)?` +
		`|\d{1,2}(?:st|nd|rd|th)? ` + monthNames + `(?:,? ` + yearDigits + `)?` +
		`|` + monthNames + ` ` + yearDigits +
		`|(?:Q[1-4] )` + yearDigits +
		`|` + yearDigits + `(?:s|[-–/]\d{2,4})?)\b`)
	relativePeriod = regexp.MustCompile(`(?i)\b(?:(?:last|past|next|coming|recent) (?:\w+ )?(?:years?|decades?|months?|weeks?|quarters?|century|centuries)|in \d+ years|since (?:the )?` + yearDigits + `s?|before ` + yearDigits + `|after ` + yearDigits + `|by ` + yearDigits + `)\b`)
	bareDate       = regexp.MustCompile(`^(?:(?:` + monthNames + `|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Mon|Tue|Wed|Thu|Fri|Sat|Sun|\d{1,4}(?:st|nd|rd|th)?)[ ,]*)+$`)
	anyYear        = regexp.MustCompile(`\b` + yearDigits + `\b`)
)

// dates finds the dates and periods that s names.
func dates(s string) []string {
	found := dateExpression.FindAllString(s, -1)
	for _, period := range relativePeriod.FindAllString(s, -1) {
		if !anyYear.MatchString(period) {
			found = append(found, period)
		}
	}
	return distinctFold(found)
}

// plainDate says whether a capitalised run is nothing but a date.
func plainDate(name string) bool {
	return bareDate.MatchString(strings.TrimSpace(name))
}
