package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fathom-research/fathom/llm"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ in, want string }{
		"clean":               {`{"a":[1,2]}`, `{"a":[1,2]}`},
		"fenced":              {"Sure!\n```json\n{\"a\": 1}\n```\nThat is it.", `{"a":1}`},
		"reasoned":            {"<think>maybe {\"a\": 2}?</think>{\"a\": 1}", `{"a":1}`},
		"reasoning unopened":  {"so {\"a\": 2}</think>\n\n{\"a\": 1}", `{"a":1}`},
		"brackets before":     {`As [1] says: {"a": "b"} (see {x}).`, `{"a":"b"}`},
		"trailing comma":      {`{"a": [1, 2,], }`, `{"a":[1,2]}`},
		"missing comma":       {"{\"a\": 1\n\"b\": 2}", `{"a":1,"b":2}`},
		"raw line break":      {"{\"a\": \"x\ny\tz\"}", `{"a":"x\ny\tz"}`},
		"bad escapes":         {`{"a": "it\'s \d"}`, `{"a":"it's \\d"}`},
		"python":              {`{"a": True, "b": None}`, `{"a":true,"b":null}`},
		"comments":            {"{ // first\n\"a\": 1 /* one */ }", `{"a":1}`},
		"cut in a string":     {`{"list": [{"q": "one", "o": "x"}, {"q": "tw`, `{"list":[{"q":"one","o":"x"}]}`},
		"cut between members": {`{"list": [{"q": "one", "o": "x"}, {"q": "two", `, `{"list":[{"q":"one","o":"x"}]}`},
		"cut after an item":   {`{"list": ["one", "two"`, `{"list":["one","two"]}`},
		"cut in a number":     {`{"list": [10, 25`, `{"list":[10]}`},
		"list":                {`Here: ["a", "b"]`, `["a","b"]`},
		"invalid UTF-8":       {"{\"a\": \"x\xff\"}", `{"a":"x` + "\ufffd" + `"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := llm.Repair(c.in)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
}

func TestRepairFindsNothingInProse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "I can't help with that.", "{", "a } b ]", `{"a`} {
		got, err := llm.Repair(text)
		if err == nil {
			require.Contains(t, []string{"{}", "[]"}, string(got), text)
		}
	}
}

func TestRepairGivesValidJSONOrAnError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("{}[]\":,\\ \nua1.-etf/*<>é"))).Draw(t, "text")
		got, err := llm.Repair(text)
		if err == nil && !json.Valid(got) {
			t.Fatalf("%q gave %q", text, got)
		}
	})
}

func TestRepairKeepsEveryCompleteElementOfACutList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.String(), 1, 6).Draw(t, "items")
		whole, err := json.Marshal(map[string][]string{"items": items})
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(len(`{"items":[`), len(whole)).Draw(t, "cut")
		repaired, err := llm.Repair(string(whole[:cut]))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Items []string }
		err = json.Unmarshal(repaired, &got)
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range got.Items {
			if item != items[i] {
				t.Fatalf("item %d is %q and was %q", i, item, items[i])
			}
		}
	})
}
