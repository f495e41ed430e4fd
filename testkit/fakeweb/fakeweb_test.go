package fakeweb_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/fakeweb"
)

func TestHitsLeadToPagesAboutTheQuery(t *testing.T) {
	t.Parallel()
	web := fakeweb.Start(t, fakeweb.Options{Sites: 4})
	require.Len(t, web.Hosts, 4)

	response, err := http.Get(web.SearchURL + "/search?format=json&q=old+lighthouses")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var found struct {
		Results []struct{ URL, Title string }
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&found))
	require.Len(t, found.Results, fakeweb.Hits)

	page, err := http.Get(found.Results[0].URL)
	require.NoError(t, err)
	defer func() { _ = page.Body.Close() }()
	body, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "old lighthouses")
	require.Equal(t, 1, web.Requests("search"))
	require.Equal(t, 1, web.Requests("page"))
}
