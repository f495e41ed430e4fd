package builtin

import (
	"regexp"
	"strings"
)

var (
	comparedPair = regexp.MustCompile(`(?i)\b(?:compare|comparing|comparison (?:of|between)|differences? between|contrast|choose between|choice between|between)\s+(.{2,80}?)\s+(?:and|with|to|vs\.?|versus|against)\s+(.{2,80}?)(?:[,.;:?!]|\s+(?:for|in|on|regarding|with|when|as|by|over|during|since|from|at|to|if)\b|$)`)
	versusPair   = regexp.MustCompile(`(?i)(?:^|[,.:;]\s+|\b(?:of|is|are|does|do|for|about)\s+)([^,.:;?!]{2,60}?)\s+(?:vs\.?|versus|compared (?:to|with)|rather than)\s+([^,.:;?!]{2,60}?)(?:[,.;:?!]|\s+(?:for|in|on|regarding|when|as|by|over|during|since)\b|$)`)
	differPair   = regexp.MustCompile(`(?i)\b(?:do|does|did|can)\s+([^,.:;?!]{2,60}?)\s+(?:differ|compare)\s+(?:from|to|with)\s+([^,.:;?!]{2,60}?)(?:[,.;:?!]|\s+(?:for|in|on|and|regarding|with|when|as|by|over|during|since)\b|$)`)
	choicePair   = regexp.MustCompile(`([A-Z][\w'’.-]*(?: [A-Z0-9][\w'’.-]*){0,4}) or ([A-Z][\w'’.-]*(?: [A-Z0-9][\w'’.-]*){0,4})`)
	leadingSmall = regexp.MustCompile(`(?i)^(?:the|a|an|both|using|of|is|are|how|what|which|does|do)\s+`)
)

// sides finds what a prompt compares.
func sides(prompt string) []string {
	for _, pattern := range []*regexp.Regexp{comparedPair, differPair, versusPair, choicePair} {
		match := pattern.FindStringSubmatch(prompt)
		if match == nil {
			continue
		}
		first, second := trimSide(match[1]), trimSide(match[2])
		if first == "" || second == "" || strings.EqualFold(first, second) || anyYear.MatchString(first) && anyYear.MatchString(second) {
			continue
		}
		if len(strings.Fields(first)) <= 6 && len(strings.Fields(second)) <= 6 {
			return []string{first, second}
		}
	}
	return nil
}

func trimSide(side string) string {
	side = strings.Trim(side, ` "'“”‘’`)
	for {
		shorter := leadingSmall.ReplaceAllString(side, "")
		if shorter == side {
			return strings.TrimSpace(side)
		}
		side = shorter
	}
}
