package fetch

import (
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/fathom-research/fathom/platform/fault"
)

var errTooLarge = errors.New("too large")

const (
	// maxEncodings bounds encodings on top of one another; no server needs a second.
	maxEncodings = 2
	// maxWindow is the largest zstd window that RFC 9659 lets servers use.
	maxWindow = 8 << 20
)

// decode reads a body through its content encodings, at most limit bytes of what
// comes out. A decoder is never asked for more than that, so a bomb costs what a
// page of that size does.
func decode(body io.Reader, encodings []string, limit int64) ([]byte, error) {
	names := splitEncodings(encodings)
	if len(names) > maxEncodings {
		return nil, fault.Permanent(fault.Unreadable, "the content is encoded %d times", len(names))
	}
	reader := body
	for _, name := range slices.Backward(names) {
		decoder, err := open(reader, name)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		defer decoder.Close()
		reader = decoder
	}
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return content, fmt.Errorf("read the body: %w", err)
	}
	if int64(len(content)) > limit {
		return content[:limit], errTooLarge
	}
	return content, nil
}

func open(reader io.Reader, name string) (io.ReadCloser, error) {
	switch name {
	case "gzip", "x-gzip":
		decoder, err := gzip.NewReader(reader)
		if err != nil {
			return nil, notEncoded(name, err)
		}
		return decoder, nil
	case "deflate":
		return openDeflate(reader)
	case "br":
		return io.NopCloser(brotli.NewReader(reader)), nil
	case "zstd":
		decoder, err := zstd.NewReader(reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, notEncoded(name, err)
		}
		return decoder.IOReadCloser(), nil
	default:
		return nil, fault.Permanent(fault.Unreadable, "content encoding %q can't be read", name)
	}
}

// openDeflate reads both things that servers mean by "deflate": the zlib format of
// the standard, and the bare stream of old ones.
func openDeflate(reader io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(reader)
	head, err := buffered.Peek(2)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		decoder, err := zlib.NewReader(buffered)
		if err != nil {
			return nil, notEncoded("deflate", err)
		}
		return decoder, nil
	}
	return flate.NewReader(buffered), nil
}

func notEncoded(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("read the body: %w", err)
	}
	return fault.Permanent(fault.Unreadable, "the content is not %s: %w", name, err)
}

func splitEncodings(values []string) []string {
	var names []string
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			// Some servers name a charset here, or nothing at all.
			if name != "" && name != "identity" && name != "none" && name != "utf-8" {
				names = append(names, name)
			}
		}
	}
	return names
}
