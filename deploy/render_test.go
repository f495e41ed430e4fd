package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// manifests are the objects of one variant.
type manifests struct {
	workloads     map[string]workload
	services      map[string]*corev1.Service
	accounts      map[string]*corev1.ServiceAccount
	configs       map[string]*corev1.ConfigMap
	namespaces    map[string]*corev1.Namespace
	budgets       map[string]*policyv1.PodDisruptionBudget
	policies      map[string]*networkingv1.NetworkPolicy
	scaledObjects map[string]scaledObject
}

// workload is a Deployment or a StatefulSet.
type workload struct {
	name       string
	deployment *appsv1.Deployment
	selector   map[string]string
	template   corev1.PodTemplateSpec
	claims     []corev1.PersistentVolumeClaim
}

func (w workload) container() corev1.Container { return w.template.Spec.Containers[0] }

// ours are the workloads that run Fathom's own programs.
func (m manifests) ours() []workload {
	var found []workload
	for _, name := range slices.Sorted(maps.Keys(m.workloads)) {
		if strings.Contains(m.workloads[name].container().Image, "fathom/") {
			found = append(found, m.workloads[name])
		}
	}
	return found
}

// Every variant is rendered once, and looked at from all sides.
func TestManifests(t *testing.T) {
	t.Parallel()
	checks := map[string]func(*testing.T, manifests){
		"namespace enforces restricted pods": checkNamespaceEnforcesRestrictedPods,
		"pods may do nothing they need not":  checkPodsMayDoNothingTheyNeedNot,
		"volumes":                            checkVolumes,
		"probes":                             checkProbes,
		"images":                             checkImages,
		"selectors match":                    checkSelectorsMatch,
		"replacement":                        checkReplacement,
		"variables exist":                    checkVariablesExist,
		"services accept their settings":     checkServicesAcceptTheirSettings,
		"addresses":                          checkAddresses,
		"pods may finish":                    checkPodsMayFinish,
		"pods reach only what they need":     checkPodsReachOnlyWhatTheyNeed,
		"ways out of the cluster":            checkWaysOutOfTheCluster,
		"only the gateway is open":           checkOnlyTheGatewayIsOpen,
	}
	// The overlays as they are, and with the components that they leave out.
	variants := map[string][]string{
		"trial":                            {"trial"},
		"trial with more":                  {"trial", "keda", "model", "tracing"},
		"production":                       {"production"},
		"production with Chrome's sandbox": {"production", "tracing", "chrome-sandbox"},
	}
	for name, parts := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := render(t, parts[0], parts[1:]...)
			for name, check := range checks {
				t.Run(name, func(t *testing.T) { check(t, m) })
			}
		})
	}
}

// render builds an overlay with further components and decodes what comes out.
func render(t *testing.T, overlay string, components ...string) manifests {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	folder := t.TempDir()
	root, err := filepath.Rel(folder, filepath.Join(here, "k8s"))
	require.NoError(t, err)
	build := map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "fathom",
		"resources": []string{filepath.Join(root, "overlays", overlay)},
	}
	paths := make([]string, 0, len(components))
	for _, component := range components {
		paths = append(paths, filepath.Join(root, "components", component))
	}
	build["components"] = paths
	text, err := yaml.Marshal(build)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), text, 0o600))
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	require.NoError(t, err)

	m := manifests{
		workloads: make(map[string]workload), services: make(map[string]*corev1.Service),
		accounts: make(map[string]*corev1.ServiceAccount), configs: make(map[string]*corev1.ConfigMap),
		namespaces: make(map[string]*corev1.Namespace), budgets: make(map[string]*policyv1.PodDisruptionBudget),
		policies: make(map[string]*networkingv1.NetworkPolicy), scaledObjects: make(map[string]scaledObject),
	}
	decoder := strictDecoder(t)
	for _, resource := range rendered.Resources() {
		document, err := resource.AsYAML()
		require.NoError(t, err)
		if resource.GetKind() != "Namespace" {
			require.Equal(t, "fathom", resource.GetNamespace(), "%s %s", resource.GetKind(), resource.GetName())
		}
		m.add(t, decoder, resource.GetKind(), document)
	}
	return m
}

// strictDecoder refuses fields that the API does not have.
func strictDecoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme,
	} {
		require.NoError(t, add(scheme))
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

func (m manifests) add(t *testing.T, decoder runtime.Decoder, kind string, document []byte) {
	t.Helper()
	if kind == "ScaledObject" {
		var object scaledObject
		require.NoError(t, yaml.UnmarshalStrict(document, &object))
		m.scaledObjects[object.Metadata.Name] = object
		return
	}
	decoded, _, err := decoder.Decode(document, nil, nil)
	require.NoError(t, err, "%s", document)
	switch object := decoded.(type) {
	case *appsv1.Deployment:
		m.workloads[object.Name] = workload{
			name: object.Name, deployment: object, selector: object.Spec.Selector.MatchLabels, template: object.Spec.Template,
		}
	case *appsv1.StatefulSet:
		m.workloads[object.Name] = workload{
			name: object.Name, selector: object.Spec.Selector.MatchLabels, template: object.Spec.Template,
			claims: object.Spec.VolumeClaimTemplates,
		}
	case *corev1.Service:
		m.services[object.Name] = object
	case *corev1.ServiceAccount:
		m.accounts[object.Name] = object
	case *corev1.ConfigMap:
		m.configs[object.Name] = object
	case *corev1.Namespace:
		m.namespaces[object.Name] = object
	case *policyv1.PodDisruptionBudget:
		m.budgets[object.Name] = object
	case *networkingv1.NetworkPolicy:
		m.policies[object.Name] = object
	default:
		// Secrets above all: none may be in the repository.
		require.Fail(t, "an object that no test knows", "%s", document)
	}
}
