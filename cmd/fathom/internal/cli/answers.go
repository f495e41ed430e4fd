package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

const noPreference = "no preference"

// readAnswers reads a JSON list of texts, or one answer a line.
func readAnswers(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "[") {
		answers := []string{}
		err := json.Unmarshal([]byte(text), &answers)
		if err != nil {
			return nil, fmt.Errorf("read the answers: %s: %w", file, err)
		}
		return answers, nil
	}
	answers := strings.Split(text, "\n")
	for i := range answers {
		answers[i] = strings.TrimSpace(answers[i])
	}
	return answers, nil
}

// answer finds an answer to each question: those given, else those of the person at
// the terminal, else none, which is no preference.
func (a *app) answer(ctx context.Context, lines lineFunc, questions, given []string, f researchFlags) ([]string, error) {
	if given != nil && len(given) != len(questions) {
		return nil, fmt.Errorf("%s has %d answers, and there are %d questions", f.answers, len(given), len(questions))
	}
	ask := given == nil && !f.yes && a.interactive()
	answers := make([]string, len(questions))
	for i, question := range questions {
		fmt.Fprintf(a.Err, "%d. %s\n", i+1, clean(question))
		switch {
		case given != nil:
			answers[i] = given[i]
		case ask:
			fmt.Fprint(a.Err, "   (Enter for no preference) > ")
			line, err := lines(ctx)
			if err != nil {
				return nil, err
			}
			answers[i] = line
			continue
		}
		fmt.Fprintf(a.Err, "   %s\n", orNoPreference(answers[i]))
	}
	return answers, nil
}

func orNoPreference(answer string) string {
	if answer == "" {
		return noPreference
	}
	return answer
}

// interactive reports whether somebody is there to answer.
func (a *app) interactive() bool { return isTerminal(a.In) && isTerminal(a.Err) }

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// goOn asks whether to begin what was announced. A no is errDeclined.
func (a *app) goOn(ctx context.Context, lines lineFunc) error {
	fmt.Fprint(a.Err, "Go on? [Y/n] > ")
	line, err := lines(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(strings.ToLower(line), "n") {
		return errDeclined
	}
	return nil
}

var errDeclined = errors.New("not started")

// lineFunc reads one line of what a person types.
type lineFunc func(context.Context) (string, error)

// lineReader reads lines, and stops waiting for one when ctx ends. The end of the
// input is an empty line.
func lineReader(in io.Reader) lineFunc {
	buffered := bufio.NewReader(in)
	type line struct {
		text string
		err  error
	}
	return func(ctx context.Context) (string, error) {
		read := make(chan line, 1)
		go func() {
			text, err := buffered.ReadString('\n')
			read <- line{strings.TrimSpace(text), err}
		}()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case got := <-read:
			if got.err != nil && !errors.Is(got.err, io.EOF) {
				return "", fmt.Errorf("read your answer: %w", got.err)
			}
			return got.text, nil
		}
	}
}

// clean takes control characters out of text that comes from elsewhere: a terminal
// would obey them.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
