package fakemodel_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/fakemodel"
)

const request = `{"model":"m","messages":[{"role":"user","content":"Page:\n[3] In 1990 the survey of lighthouses counted 12 stations along the northern coast."}],
"response_format":{"type":"json_schema","json_schema":{"name":"claims","schema":{"type":"object","properties":{
"claims":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"object","properties":{"claim":{"type":"string"},"quote":{"type":"string"}}}}}}}}}`

func ask(t *testing.T, server *fakemodel.Server) *http.Response {
	t.Helper()
	response, err := http.Post(server.URL+"/chat/completions", "application/json", strings.NewReader(request))
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestFillsTheSchemaWithWordsOfThePrompt(t *testing.T) {
	t.Parallel()
	server := fakemodel.Start(t, fakemodel.Options{})

	var answer struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	require.NoError(t, json.NewDecoder(ask(t, server).Body).Decode(&answer))

	sentence := "In 1990 the survey of lighthouses counted 12 stations along the northern coast."
	require.JSONEq(t, `{"claims":[{"claim":"`+sentence+`","quote":"`+sentence+`"}]}`, answer.Choices[0].Message.Content)
}

func TestCountsWhatWasPaidTwice(t *testing.T) {
	t.Parallel()
	server := fakemodel.Start(t, fakemodel.Options{Fault: func(n int) fakemodel.Fault {
		if n == 0 {
			return fakemodel.ServerError
		}
		return fakemodel.None
	}})

	require.Equal(t, http.StatusInternalServerError, ask(t, server).StatusCode)
	for range 3 {
		require.Equal(t, http.StatusOK, ask(t, server).StatusCode)
	}
	server.SetDown(true)
	require.Equal(t, http.StatusServiceUnavailable, ask(t, server).StatusCode)

	require.Len(t, server.Calls(), 5)
	require.Equal(t, 2, server.Repeated())
}
