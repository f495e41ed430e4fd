package builtin

import "strings"

// isStopWord says whether an English word carries no meaning of its own.
func isStopWord(lower string) bool {
	return stopWords.has(lower)
}

// isGeneric says whether an English word says what is asked for or who reports
// it, and not what it is about: such a word is of no use as a topic or as what
// a sentence is found by.
func isGeneric(lower string) bool {
	return genericWords.has(lower)
}

var stopWords = wordSet(`
a about above according across after again against all almost along already also although always am among
amongst an and another any anyone anything are around as at away back be became because become becomes been
before began begin behind being below besides best between beyond both but by came can cannot can't come could
couldn't did didn't do does doesn't doing done don't down due during each either else enough even ever every
everyone everything few for from further gave get gets getting give given gives go goes going gone got had
hadn't has hasn't have haven't having he her here hers herself him himself his how however i if in indeed
instead into is isn't it its itself just keep kept know known knows least less let like likely made make makes
making many may maybe me might mine more moreover most mostly much must my myself near nearly need neither
never nevertheless next no nobody none nor not nothing now of off often on once one ones only onto or other
others otherwise our ours ourselves out over own per perhaps please put quite rather really said same saw say
saying says see seem seemed seems seen several shall she should shouldn't since so some somehow someone
something sometimes somewhat soon still such take taken takes tell than that the their theirs them themselves
then there thereby therefore these they thing things think this those though through throughout thus to
together told too took toward towards two under unless until up upon us use used uses using usually various
very via want wants was wasn't way ways we well went were weren't what whatever when whenever where whereas
wherever whether which whichever while who whoever whole whom whose why will with within without won't would
wouldn't yet you your yours yourself i'm it's that's there's what's who's he's she's they're we're you're i've
we've they've i'll we'll he'll she'll they'll let's`)

var genericWords = wordSet(`
article articles piece report reports reported reporting reportedly source sources story stories news
information question questions answer answers answered asked asks ask find finding findings found show shows
showed shown showing suggest suggests suggested suggesting indicate indicates indicated indicating imply
implies claim claims claimed claiming state states stated stating mention mentions mentioned mentioning
discuss discusses discussed discussing describe describes described describing explain explains explained
explaining highlight highlights highlighted involve involves involved involving concerning regarding
considering relate related relates provide provides provided publish published publishes publication
individual person someone entity compare compared comparing comparison difference differences different
versus vs also specific specifically particular certain based including include includes included research
researching detailed overview summary summarize summarise write essay analysis analyse analyze evaluate
assess tell give list name named identify determine establish learn evidence aspect matter matters open wanted
said both instance example featured features featuring covered coverage covering titled detail details focus
focuses focused focusing subject topic portrayed discussion according note noted notes notably
role roles kind kinds type types number numbers
literature supported unsupported true false consistent consistency agreement portrayal portrayed previously subsequent recently
find bear bears know say says stand stands main happen happened happens come comes connection connect
connects`)

func wordSet(list string) termSet {
	return newTermSet(strings.Fields(list))
}
