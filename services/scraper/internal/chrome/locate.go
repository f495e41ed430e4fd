package chrome

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrNoBrowser says that there is no Chrome on this machine.
var ErrNoBrowser = errors.New("no Chrome or Chromium was found; set FATHOM_CHROME_PATH")

// Locate finds the browser's binary: path when it is set, otherwise the first that
// is installed. The binaries themselves come before the scripts that packages put
// into /usr/bin: Debian's script for the headless shell does not exec, so that
// killing it leaves the browser behind.
func Locate(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("FATHOM_CHROME_PATH: %w", err)
		}
		return found, nil
	}
	for _, candidate := range []string{
		"/usr/lib/chromium/chromium-headless-shell",
		"/usr/lib/chromium/chromium",
		"/usr/lib/chromium-browser/chromium-browser",
		"/opt/google/chrome/chrome",
		"/usr/lib64/chromium-browser/chromium-browser",
		"/headless-shell/headless-shell",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
	} {
		info, err := os.Stat(candidate)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	for _, name := range []string{"headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		found, err := exec.LookPath(name)
		if err == nil {
			return found, nil
		}
	}
	return "", ErrNoBrowser
}
