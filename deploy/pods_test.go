package deploy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func checkNamespaceEnforcesRestrictedPods(t *testing.T, m manifests) {
	t.Helper()
	require.Equal(t, "restricted", m.namespaces["fathom"].Labels["pod-security.kubernetes.io/enforce"])
}

func checkPodsMayDoNothingTheyNeedNot(t *testing.T, m manifests) {
	t.Helper()
	for _, w := range m.workloads {
		pod := w.template.Spec
		require.False(t, *pod.AutomountServiceAccountToken, w.name)
		require.False(t, *pod.EnableServiceLinks, w.name)
		require.Contains(t, m.accounts, pod.ServiceAccountName)
		require.False(t, *m.accounts[pod.ServiceAccountName].AutomountServiceAccountToken, w.name)
		require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC, w.name)
		require.True(t, *pod.SecurityContext.RunAsNonRoot, w.name)
		require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type, w.name)
		for _, c := range append(pod.InitContainers, pod.Containers...) {
			requireRestricted(t, w.name, c)
		}
	}
}

func requireRestricted(t *testing.T, name string, c corev1.Container) {
	t.Helper()
	is := c.SecurityContext
	require.False(t, *is.AllowPrivilegeEscalation, name)
	require.True(t, *is.ReadOnlyRootFilesystem, name)
	require.True(t, *is.RunAsNonRoot, name)
	require.Positive(t, *is.RunAsUser, name)
	require.Nil(t, is.Privileged, name)
	require.Equal(t, []corev1.Capability{"ALL"}, is.Capabilities.Drop, name)
	require.Empty(t, is.Capabilities.Add, name)
	if is.SeccompProfile.Type == corev1.SeccompProfileTypeLocalhost {
		require.Equal(t, "scraper", c.Name, "only Chrome needs a profile of its own")
	} else {
		require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, is.SeccompProfile.Type, name)
	}
	for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := c.Resources.Requests[resource], c.Resources.Limits[resource]
		require.Positive(t, request.Sign(), "%s: request of %s", name, resource)
		require.GreaterOrEqual(t, limit.Cmp(request), 0, "%s: limit of %s", name, resource)
	}
}

// What is written to has a volume, since the root is read-only.
func checkVolumes(t *testing.T, m manifests) {
	t.Helper()
	writable := map[string][]string{
		"scraper": {"/tmp"}, "nats": {"/data"}, "searxng": {"/etc/searxng", "/var/cache/searxng", "/tmp"},
		"postgres": {"/var/lib/postgresql/data", "/var/run/postgresql", "/tmp"},
	}
	for _, w := range m.workloads {
		defined := make(map[string]bool)
		for _, volume := range w.template.Spec.Volumes {
			defined[volume.Name] = true
			if volume.ConfigMap != nil {
				require.Contains(t, m.configs, volume.ConfigMap.Name, w.name)
			}
		}
		for _, claim := range w.claims {
			defined[claim.Name] = true
		}
		mounted := make(map[string]bool)
		for _, mount := range w.container().VolumeMounts {
			require.True(t, defined[mount.Name], "%s mounts %s", w.name, mount.Name)
			mounted[mount.MountPath] = !mount.ReadOnly
		}
		for _, path := range writable[w.name] {
			require.True(t, mounted[path], "%s writes to %s", w.name, path)
		}
	}
}

func checkProbes(t *testing.T, m manifests) {
	t.Helper()
	for _, w := range m.workloads {
		c := w.container()
		require.NotNil(t, c.LivenessProbe, w.name)
		require.NotNil(t, c.ReadinessProbe, w.name)
		for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if probe == nil {
				continue
			}
			if probe.HTTPGet != nil {
				require.NotZero(t, portNamed(c, probe.HTTPGet.Port.StrVal), w.name)
			}
			if probe.TCPSocket != nil {
				require.NotZero(t, portNamed(c, probe.TCPSocket.Port.StrVal), w.name)
			}
		}
	}
	for _, w := range m.ours() {
		require.Equal(t, "/livez", w.container().LivenessProbe.HTTPGet.Path, w.name)
		require.Equal(t, "/readyz", w.container().ReadinessProbe.HTTPGet.Path, w.name)
	}
}

func portNamed(c corev1.Container, name string) int32 {
	for _, port := range c.Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

func checkImages(t *testing.T, m manifests) {
	t.Helper()
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	for _, w := range m.workloads {
		_, tag, tagged := strings.Cut(w.container().Image, ":")
		require.True(t, tagged && tag != "", "%s has no tag", w.container().Image)
	}
	require.Len(t, m.ours(), 8)
	for _, w := range m.ours() {
		image, _, _ := strings.Cut(w.container().Image, ":")
		require.True(t, strings.HasSuffix(image, "fathom/"+w.name), image)
		require.Contains(t, string(dockerfile), " AS "+w.name+"\n")
	}
}
