// Package builtin is Fathom's own engine for people without a model: it asks,
// plans, extracts and reports with no model and no network. Whatever it writes
// about the world is made of sentences that the pages have, and the same input
// always gives the same output.
package builtin
