package config_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/config"
)

type sample struct {
	URL   string        `env:"FATHOM_SAMPLE_URL"`
	Slots int           `env:"FATHOM_SAMPLE_SLOTS" envDefault:"4"`
	Wait  time.Duration `env:"FATHOM_SAMPLE_WAIT"  envDefault:"2s"`
}

func (s *sample) Validate() error {
	var mistakes []error
	if s.URL == "" {
		mistakes = append(mistakes, errors.New("FATHOM_SAMPLE_URL must be set"))
	}
	if s.Slots < 1 {
		mistakes = append(mistakes, errors.New("FATHOM_SAMPLE_SLOTS must be at least 1"))
	}
	return errors.Join(mistakes...)
}

func TestLoadFillsDefaults(t *testing.T) {
	t.Parallel()
	var cfg sample
	require.NoError(t, config.LoadFrom(&cfg, map[string]string{"FATHOM_SAMPLE_URL": "http://a", "FATHOM_SAMPLE_SLOTS": "9"}))
	require.Equal(t, sample{URL: "http://a", Slots: 9, Wait: 2 * time.Second}, cfg)
}

func TestLoadListsEveryMistake(t *testing.T) {
	t.Parallel()
	var cfg sample
	err := config.LoadFrom(&cfg, map[string]string{"FATHOM_SAMPLE_SLOTS": "0"})
	require.ErrorContains(t, err, "FATHOM_SAMPLE_URL must be set")
	require.ErrorContains(t, err, "FATHOM_SAMPLE_SLOTS must be at least 1")

	err = config.LoadFrom(&cfg, map[string]string{"FATHOM_SAMPLE_SLOTS": "many", "FATHOM_SAMPLE_WAIT": "long"})
	require.ErrorContains(t, err, "FATHOM_SAMPLE_URL must be set")
	require.ErrorContains(t, err, "FATHOM_SAMPLE_SLOTS: not a valid int")
	require.ErrorContains(t, err, "FATHOM_SAMPLE_WAIT: not a valid time.Duration")
	require.NotContains(t, err.Error(), "FATHOM_SAMPLE_SLOTS must be")
}

func TestLoadReadsTheEnvironment(t *testing.T) {
	t.Setenv("FATHOM_SAMPLE_URL", "http://b?x=1")
	var cfg sample
	require.NoError(t, config.Load(&cfg))
	require.Equal(t, "http://b?x=1", cfg.URL)
}
