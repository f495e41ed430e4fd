package llm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/config"
)

func TestConfigDefaultsToTheBuiltinEngine(t *testing.T) {
	t.Parallel()
	var cfg llm.Config
	require.NoError(t, config.LoadFrom(&cfg, map[string]string{}))
	require.True(t, cfg.Builtin())
	require.Equal(t, 90*time.Second, cfg.Timeout)
}

func TestConfigListsEveryMistake(t *testing.T) {
	t.Parallel()
	var cfg llm.Config
	err := config.LoadFrom(&cfg, map[string]string{
		"FATHOM_LLM_PROVIDER": "gpt", "FATHOM_LLM_BASE_URL": "ftp://x", "FATHOM_LLM_TIMEOUT": "0s",
		"FATHOM_LLM_CONCURRENT": "-1", "FATHOM_LLM_RETRIES": "11", "FATHOM_LLM_CONTEXT_TOKENS": "5",
	})
	for _, variable := range []string{
		"FATHOM_LLM_PROVIDER", "FATHOM_LLM_BASE_URL", "FATHOM_LLM_MODEL", "FATHOM_LLM_TIMEOUT",
		"FATHOM_LLM_CONCURRENT", "FATHOM_LLM_RETRIES", "FATHOM_LLM_CONTEXT_TOKENS",
	} {
		require.ErrorContains(t, err, variable)
	}
}

func TestConfigWantsAKeyOrAnAddress(t *testing.T) {
	t.Parallel()
	var cfg llm.Config
	err := config.LoadFrom(&cfg, map[string]string{"FATHOM_LLM_PROVIDER": "openai", "FATHOM_LLM_MODEL": "m"})
	require.ErrorContains(t, err, "FATHOM_LLM_API_KEY")
}

func TestConfigHasAModelPerRole(t *testing.T) {
	t.Parallel()
	var cfg llm.Config
	require.NoError(t, config.LoadFrom(&cfg, map[string]string{
		"FATHOM_LLM_BASE_URL": "http://localhost:11434/v1", "FATHOM_LLM_MODEL": "large", "FATHOM_LLM_MODEL_ANALYZER": "small",
	}))
	require.False(t, cfg.Builtin())
	require.Equal(t, "small", cfg.ModelOf(llm.Analyzer))
	require.Equal(t, "large", cfg.ModelOf(llm.Reporter))
	require.Equal(t, "model:localhost:11434", cfg.LimitKey())
}
