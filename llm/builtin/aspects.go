package builtin

// aspect is a side from which any subject can be looked at. words go into a
// query, purpose into its objective, and matter into a question.
type aspect struct {
	words   string
	purpose string
	matter  string
}

// aspects stand in the order in which they usually help.
var aspects = []aspect{
	{"overview background", "an overview of %s and the background", "the background"},
	{"causes reasons", "the causes and reasons behind %s", "causes and reasons"},
	{"effects consequences", "the effects and consequences of %s", "effects and consequences"},
	{"statistics figures", "figures and statistics on %s", "figures and statistics"},
	{"history timeline", "the history of %s, with dates", "the history"},
	{"research evidence study", "what studies have measured about %s", "what studies have measured"},
	{"criticism controversy", "what is criticised or disputed about %s", "criticism and disputes"},
	{"recent developments", "the latest developments around %s", "the latest developments"},
	{"expert analysis", "how experts judge %s", "how experts judge it"},
	{"examples case study", "concrete examples and cases of %s", "concrete cases"},
	{"risks problems", "risks and problems of %s", "risks and problems"},
	{"benefits advantages", "benefits and advantages of %s", "benefits"},
	{"people organisations involved", "which people and organisations have a part in %s", "the people and organisations involved"},
	{"definition meaning", "definitions of %s", "definitions"},
	{"official statement", "what officials and the parties themselves state about %s", "official statements"},
	{"law regulation", "laws and rules that bear on %s", "laws and rules"},
	{"costs prices", "the costs of %s", "costs"},
	{"alternatives comparison", "alternatives to %s and how they compare", "alternatives"},
	{"outlook forecast", "what is expected of %s in the future", "the outlook"},
	{"method mechanism", "the workings of %s", "how it works"},
	{"limitations uncertainty", "what is uncertain or not known about %s", "what is uncertain"},
	{"public reaction", "how the public reacted to %s", "public reaction"},
	{"market companies", "markets and companies around %s", "markets and companies"},
	{"regions countries", "differences of %s between regions and countries", "differences between regions"},
	{"origin beginnings", "the beginnings of %s", "how it began"},
	{"solutions responses", "what is done in response to %s", "responses"},
	{"requirements conditions", "the conditions for %s", "what it depends on"},
	{"misconceptions facts", "common mistakes about %s", "common mistakes about it"},
	{"data survey", "surveys and data sets on %s", "surveys and data"},
	{"decision outcome", "decisions on %s and what came of them", "decisions and their outcome"},
	{"technical details", "technical details of %s", "technical details"},
	{"ethics society", "the meaning of %s for society", "what it means for society"},
}
