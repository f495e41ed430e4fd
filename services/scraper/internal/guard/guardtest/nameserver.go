// Package guardtest has a name server whose answers tests choose.
package guardtest

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// Resolver asks a name server that answers every question for an IPv4 address with
// the next of the given ones.
func Resolver(t testing.TB, addresses ...string) *net.Resolver {
	t.Helper()
	server, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	var asked atomic.Int32
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			answer := answerTo(buffer[:n], func() netip.Addr {
				return netip.MustParseAddr(addresses[int(asked.Add(1)-1)%len(addresses)])
			})
			_, _ = server.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
		},
	}
}

func answerTo(question []byte, next func() netip.Addr) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(question)
	if err != nil {
		return nil
	}
	asked, err := parser.Question()
	if err != nil {
		return nil
	}
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, RecursionAvailable: true},
		Questions: []dnsmessage.Question{asked},
	}
	if asked.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: next().As4()},
		}}
	}
	packed, err := message.Pack()
	if err != nil {
		return nil
	}
	return packed
}
