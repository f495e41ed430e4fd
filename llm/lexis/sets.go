package lexis

import "strings"

// spelled are the numbers that are usually written out.
var spelled = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}

var stop = setOf(`a about above according across after again all also although am among an and any are
as at be because been before being below between both but by can could did do does doing down during each
either else even ever few for from further had has have having he her here hers herself him himself his how
however i if in into is it its itself just like made make many may me might more most much must my myself
neither no nor not now of off on once one only or other our ours out over own per rather same say said says she should since
so some such than that the their theirs them themselves then there therefore these they this those through
thus to too under until up upon us very via was we were what when where whether which while who whom whose
why will with within without would yet you your yours yourself
don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't shouldn't hasn't haven't hadn't
it's that's there's never`)

// denials turn what follows them into its opposite.
var denials = setOf(`not no never without neither nor cannot none nobody nothing
don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
