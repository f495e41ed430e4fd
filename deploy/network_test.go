package deploy_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// routes are all ways between pods.
func routes(nats, postgres bool) []string {
	ways := []string{"gateway > state grpc", "scraper > scraper-proxy proxy", "searcher > searxng http"}
	if nats {
		for _, client := range []string{"state", "planner", "searcher", "scraper", "analyzer", "reporter"} {
			ways = append(ways, client+" > nats nats")
		}
	}
	if postgres {
		ways = append(ways, "state > postgres postgres")
	}
	slices.Sort(ways)
	return ways
}

func checkPodsReachOnlyWhatTheyNeed(t *testing.T, m manifests) {
	t.Helper()
	var open []string
	for _, from := range m.workloads {
		for _, to := range m.workloads {
			for _, port := range to.container().Ports {
				if m.lets(t, networkingv1.PolicyTypeEgress, from, to, to, port) && m.lets(t, networkingv1.PolicyTypeIngress, to, from, to, port) {
					open = append(open, from.name+" > "+to.name+" "+port.Name)
				}
			}
		}
	}
	slices.Sort(open)
	_, nats := m.workloads["nats"]
	_, postgres := m.workloads["postgres"]
	require.Equal(t, routes(nats, postgres), open)
}

// lets reports whether the policies of one pod let the other through to the port of
// server.
func (m manifests) lets(t *testing.T, direction networkingv1.PolicyType, pod, peer, server workload, port corev1.ContainerPort) bool {
	t.Helper()
	isolated := false
	for _, policy := range m.policies {
		if !slices.Contains(policy.Spec.PolicyTypes, direction) || !matches(t, &policy.Spec.PodSelector, pod) {
			continue
		}
		isolated = true
		for _, r := range rulesOf(policy, direction) {
			if reachesPod(t, r.peers, peer) && reachesPort(r.ports, server.container(), port) {
				return true
			}
		}
	}
	return !isolated
}

type rule struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func rulesOf(policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) []rule {
	var rules []rule
	if direction == networkingv1.PolicyTypeIngress {
		for _, r := range policy.Spec.Ingress {
			rules = append(rules, rule{peers: r.From, ports: r.Ports})
		}
		return rules
	}
	for _, r := range policy.Spec.Egress {
		rules = append(rules, rule{peers: r.To, ports: r.Ports})
	}
	return rules
}

// reachesPod is about pods of the namespace; blocks of addresses are for outside.
func reachesPod(t *testing.T, peers []networkingv1.NetworkPolicyPeer, pod workload) bool {
	t.Helper()
	for _, peer := range peers {
		if peer.NamespaceSelector == nil && peer.PodSelector != nil && matches(t, peer.PodSelector, pod) {
			return true
		}
	}
	return len(peers) == 0
}

func reachesPort(ports []networkingv1.NetworkPolicyPort, server corev1.Container, port corev1.ContainerPort) bool {
	for _, allowed := range ports {
		number := allowed.Port.IntVal
		if allowed.Port.StrVal != "" {
			number = portNamed(server, allowed.Port.StrVal)
		}
		if number == port.ContainerPort {
			return true
		}
	}
	return len(ports) == 0
}

func checkWaysOutOfTheCluster(t *testing.T, m manifests) {
	t.Helper()
	public := []string{"93.184.215.14", "8.8.8.8", "2606:2800:220:1::1"}
	private := []string{
		"10.96.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.169.254", "127.0.0.1",
		"0.0.0.0", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::1", "fc00::1", "fd00:ec2::254", "fe80::1",
	}
	internet := []string{"scraper-proxy", "searxng"}
	if _, model := m.policies["model-clients"]; model {
		internet = append(internet, "analyzer", "planner", "reporter")
	}
	for _, w := range m.workloads {
		for _, address := range public {
			require.Equal(t, slices.Contains(internet, w.name), m.leads(t, w, address, 443), "%s to %s", w.name, address)
			require.False(t, m.leads(t, w, address, 22), "%s to %s", w.name, address)
		}
		for _, address := range private {
			require.False(t, m.leads(t, w, address, 80) || m.leads(t, w, address, 443), "%s to %s", w.name, address)
		}
	}
	_, own := m.workloads["nats"]
	require.Equal(t, !own, m.leads(t, m.workloads["scraper"], "10.0.0.1", 4222))
	require.Equal(t, !own, m.leads(t, m.workloads["state"], "10.0.0.1", 5432))
	require.False(t, m.leads(t, m.workloads["scraper"], "10.0.0.1", 5432))
}

func (m manifests) leads(t *testing.T, w workload, address string, port int32) bool {
	t.Helper()
	ip := netip.MustParseAddr(address)
	for _, policy := range m.policies {
		if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) || !matches(t, &policy.Spec.PodSelector, w) {
			continue
		}
		for _, r := range policy.Spec.Egress {
			open := slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntVal == port })
			if open && slices.ContainsFunc(r.To, func(p networkingv1.NetworkPolicyPeer) bool { return holds(p.IPBlock, ip) }) {
				return true
			}
		}
	}
	return false
}

func holds(block *networkingv1.IPBlock, ip netip.Addr) bool {
	if block == nil || !netip.MustParsePrefix(block.CIDR).Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(block.Except, func(except string) bool { return netip.MustParsePrefix(except).Contains(ip) })
}

// Only the gateway is reached from outside of the namespace, apart from monitoring.
func checkOnlyTheGatewayIsOpen(t *testing.T, m manifests) {
	t.Helper()
	outside := map[string][]string{"metrics": {"monitoring"}, "nats-monitor": {"keda"}}
	require.Empty(t, m.policies["default-deny"].Spec.PodSelector)
	require.Len(t, m.policies["default-deny"].Spec.PolicyTypes, 2)
	for name, policy := range m.policies {
		applies := false
		for _, w := range m.workloads {
			applies = applies || matches(t, &policy.Spec.PodSelector, w)
		}
		external := name == "nats-monitor" && m.workloads["nats"].name == ""
		require.True(t, applies || external, "%s is for no pod", name)
		for _, r := range policy.Spec.Ingress {
			if len(r.From) == 0 {
				require.Equal(t, "gateway", name)
			}
			for _, peer := range r.From {
				require.Nil(t, peer.IPBlock, name)
				require.True(t, peer.NamespaceSelector == nil || within(peer.NamespaceSelector, outside[name]), name)
			}
		}
	}
}

func within(selector *metav1.LabelSelector, namespaces []string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && slices.ContainsFunc(namespaces, func(name string) bool {
		return parsed.Matches(labels.Set{"kubernetes.io/metadata.name": name}) && !parsed.Matches(labels.Set{})
	})
}
