package extract

import (
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// sectionsOf cuts Markdown at its headings. Sections follow one another without
// a gap, and each begins with its heading.
func sectionsOf(text string) []*workv1.Section {
	var sections []*workv1.Section
	var path []string
	var levels []int
	start, at, fence := 0, 0, ""
	closeAt := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			sections = append(sections, &workv1.Section{HeadingPath: append([]string(nil), path...), Start: int32(start), End: int32(end)})
			start = end
		}
	}
	for line := range strings.SplitAfterSeq(text, "\n") {
		here := at
		at += len(line)
		if fence = fenceAfter(line, fence); fence != "" {
			continue
		}
		level, heading := headingOf(line)
		if level == 0 {
			continue
		}
		closeAt(here)
		for len(levels) > 0 && levels[len(levels)-1] >= level {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		levels, path = append(levels, level), append(path, heading)
	}
	closeAt(len(text))
	return sections
}

// fenceAfter is the fence of code that is open after a line.
func fenceAfter(line, open string) string {
	trimmed := strings.TrimLeft(line, " >")
	if open != "" {
		if strings.HasPrefix(trimmed, open) && strings.Trim(trimmed, open[:1]+" \r\n") == "" {
			return ""
		}
		return open
	}
	for _, c := range []string{"`", "~"} {
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, c)); n >= 3 {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

// headingOf reads a heading of the form "## Words".
func headingOf(line string) (int, string) {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' {
		return 0, ""
	}
	heading := plain(strings.TrimRight(strings.TrimSpace(line[level:]), "# "))
	if heading == "" {
		return 0, ""
	}
	return level, heading
}

// plain takes the marks of links and emphasis out of a heading.
func plain(s string) string {
	for {
		open := strings.Index(s, "[")
		mid := strings.Index(s, "](")
		if open < 0 || mid < open {
			break
		}
		end := strings.Index(s[mid:], ")")
		if end < 0 {
			break
		}
		s = s[:open] + s[open+1:mid] + s[mid+end+1:]
	}
	return squash(unescaper.Replace(s))
}

var unescaper = strings.NewReplacer(`\\`, `\`, "\\`", "`", `\*`, `*`, `\[`, `[`, `\]`, `]`, `\#`, `#`, `\<`, `<`, "**", "", "*", "", "`", "")
