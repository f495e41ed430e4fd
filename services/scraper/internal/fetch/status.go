package fetch

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fathom-research/fathom/platform/fault"
)

// maxRetryAfter bounds the wait that a server may ask for: beyond it no research
// is still running.
const maxRetryAfter = time.Hour

// StatusFault is the failure that a status stands for, or nil for a success.
func StatusFault(status int, header http.Header) error {
	name := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	wait := RetryAfter(header, time.Now())
	switch {
	case status == http.StatusNoContent || status == http.StatusResetContent:
		return fault.Permanent(fault.Empty, "the server answered %s", name)
	case status/100 == 2:
		return nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return fault.Permanent(fault.NotFound, "the server answered %s", name)
	case status == http.StatusTooManyRequests:
		return fault.Transient(fault.RateLimited, "the server answered %s", name).After(wait)
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusMisdirectedRequest:
		return fault.Transient(fault.Unavailable, "the server answered %s", name).After(wait)
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return fault.Permanent(fault.Unavailable, "the server answered %s", name)
	case status/100 == 5:
		return fault.Transient(fault.Unavailable, "the server answered %s", name).After(wait)
	case status/100 == 4:
		return fault.Permanent(fault.Blocked, "the server answered %s", name)
	default:
		return fault.Permanent(fault.Unavailable, "the server answered %s", name)
	}
}

// RetryAfter reads the header of that name: seconds, or a date. It is 0 when there
// is none or it lies in the past.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	seconds, err := strconv.ParseInt(value, 10, 32)
	if err == nil {
		return bounded(time.Duration(seconds) * time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return bounded(at.Sub(now))
}

func bounded(wait time.Duration) time.Duration {
	return min(max(wait, 0), maxRetryAfter)
}

// refuseMedia refuses, before its body is read, a type that holds no text.
func refuseMedia(contentType string) error {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil //nolint:nilerr // what a type is that can't be read is told by the body
	}
	kind, _, _ := strings.Cut(media, "/")
	switch kind {
	case "image":
		if media == "image/svg+xml" {
			return nil
		}
	case "audio", "video", "font", "model":
	default:
		if media != "application/gzip" && media != "application/x-tar" {
			return nil
		}
	}
	return fault.Permanent(fault.Unreadable, "type %q can't be read", media)
}

// RefusedHeader is how the filtering proxy says that it, and not the server, refused.
const RefusedHeader = "Fathom-Refused"

func proxyRefusal(header http.Header) error {
	reason := header.Get(RefusedHeader)
	if reason == "" {
		return nil
	}
	return fault.Permanent(fault.RefusedAddress, "%s", reason)
}

// Sniff is the media type that a body looks like.
func Sniff(body []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(body), ";")
	return media
}
