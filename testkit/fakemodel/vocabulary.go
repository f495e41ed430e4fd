package fakemodel

// vocabulary is what queries and questions are made of.
var vocabulary = []string{
	"amber", "anchor", "apple", "arctic", "arrow", "aspen", "atlas", "autumn", "badger", "bamboo",
	"barley", "basalt", "beacon", "birch", "bishop", "blossom", "border", "branch", "breeze", "bridge",
	"bronze", "brook", "canal", "candle", "canyon", "carbon", "castle", "cedar", "cellar", "chapel",
	"cherry", "cinder", "circuit", "citrus", "clover", "cobalt", "comet", "compass", "copper", "coral",
	"cotton", "crater", "cricket", "crystal", "current", "cypress", "dagger", "delta", "desert", "diamond",
	"dolphin", "dragon", "drift", "dune", "eagle", "eclipse", "ember", "emerald", "engine", "estuary",
	"falcon", "feather", "fern", "ferry", "fjord", "flame", "flint", "forest", "fossil", "fountain",
	"galaxy", "garden", "garnet", "geyser", "ginger", "glacier", "granite", "gravel", "grove", "harbor",
	"harvest", "hazel", "heron", "hollow", "horizon", "hornet", "island", "ivory", "jasper", "jungle",
	"juniper", "kernel", "kettle", "lagoon", "lantern", "laurel", "lava", "ledger", "lemon", "lily",
	"lizard", "lotus", "lumber", "magnet", "mango", "maple", "marble", "meadow", "mercury", "meteor",
	"mirror", "monsoon", "mosaic", "mountain", "nectar", "needle", "nickel", "nutmeg", "oasis", "ocean",
	"olive", "onyx", "opal", "orbit", "orchard", "orchid", "osprey", "otter", "oyster", "paddle",
	"palace", "parade", "pepper", "pigeon", "pillar", "plateau", "plaza", "pocket", "pollen", "prairie",
	"prism", "pyramid", "quarry", "quartz", "rabbit", "raven", "reactor", "reef", "ribbon", "ridge",
	"river", "rocket", "saddle", "saffron", "salmon", "sapphire", "satin", "shadow", "shelter", "signal",
	"silver", "sparrow", "spiral", "spruce", "squirrel", "summit", "sunset", "tablet", "temple", "thistle",
	"thunder", "timber", "topaz", "torrent", "tundra", "turbine", "valley", "vapor", "velvet", "vessel",
	"violet", "volcano", "walnut", "willow", "window", "winter", "zephyr", "zinc",
}
