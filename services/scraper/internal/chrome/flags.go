package chrome

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// flags are Chrome's switches. Those about the network are the safety of the whole:
// without the bypass list, loopback and link-local addresses would skip the proxy,
// and WebRTC would send datagrams past it. The resolver rule makes Chrome unable to
// look any name up by itself.
func (o Options) flags(dataDir string, sandbox bool) []chromedp.ExecAllocatorOption {
	switches := map[string]any{
		"proxy-server":                                       o.Proxy.String(),
		"proxy-bypass-list":                                  "<-loopback>",
		"host-resolver-rules":                                "MAP * ~NOTFOUND, EXCLUDE " + o.Proxy.Hostname(),
		"webrtc-ip-handling-policy":                          "disable_non_proxied_udp",
		"force-webrtc-ip-handling-policy":                    "disable_non_proxied_udp",
		"disable-quic":                                       true,
		"dns-prefetch-disable":                               true,
		"disable-background-networking":                      true,
		"disable-component-update":                           true,
		"disable-component-extensions-with-background-pages": true,
		"disable-domain-reliability":                         true,
		"disable-client-side-phishing-detection":             true,
		"disable-field-trial-config":                         true,
		"disable-sync":                                       true,
		"no-pings":                                           true,
		"no-service-autorun":                                 true,

		// What is not needed to read text is not loaded.
		"blink-settings":       "imagesEnabled=false",
		"disable-remote-fonts": true,
		"mute-audio":           true,
		"autoplay-policy":      "document-user-activation-required",

		"headless":                               true,
		"hide-scrollbars":                        true,
		"window-size":                            fmt.Sprintf("%d,%d", windowWidth, windowHeight),
		"user-agent":                             o.UserAgent,
		"accept-lang":                            languages(o.Language),
		"disable-gpu":                            true,
		"disable-dev-shm-usage":                  true,
		"disable-extensions":                     true,
		"disable-default-apps":                   true,
		"disable-breakpad":                       true,
		"disable-crash-reporter":                 true,
		"disable-notifications":                  true,
		"disable-print-preview":                  true,
		"disable-prompt-on-repost":               true,
		"disable-hang-monitor":                   true,
		"disable-search-engine-choice-screen":    true,
		"disable-background-timer-throttling":    true,
		"disable-backgrounding-occluded-windows": true,
		"disable-renderer-backgrounding":         true,
		"no-first-run":                           true,
		"no-default-browser-check":               true,
		"metrics-recording-only":                 true,
		"password-store":                         "basic",
		"use-mock-keychain":                      true,
		"force-color-profile":                    "srgb",
		"js-flags":                               "--max-old-space-size=512",
		"disable-features":                       strings.Join(disabledFeatures(), ","),
		"user-data-dir":                          dataDir,
		"no-sandbox":                             !sandbox,
	}
	options := make([]chromedp.ExecAllocatorOption, 0, len(switches)+4)
	for name, value := range switches {
		options = append(options, chromedp.Flag(name, value))
	}
	return options
}

// A high window brings more of a page into view at once.
const (
	windowWidth  = 1280
	windowHeight = 2400
)

// disabledFeatures talk to the network by themselves, or get in the way.
func disabledFeatures() []string {
	return []string{
		"Translate", "OptimizationHints", "MediaRouter", "DialMediaRouteProvider", "GlobalMediaControls",
		"AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "InterestFeedContentSuggestions",
		"PaintHolding", "BackForwardCache", "Prerender2", "SpareRendererForSitePerProcess", "AsyncDns", "DnsOverHttps",
		"ImprovedCookieControls", "LazyFrameLoading", "HttpsUpgrades", "WebBluetooth", "WebUsb",
	}
}

// languages turns the value of Accept-Language into Chrome's list.
func languages(accept string) string {
	var names []string
	for part := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name != "" && name != "*" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
