package extract

import (
	"math"
	"slices"
	"strings"

	"github.com/ledongthuc/pdf"
)

// piece is a run of glyphs on one baseline without a wide gap.
type piece struct {
	left, right, y, size float64
	text                 string
}

// pdfLine is a line of a page in reading order.
type pdfLine struct {
	left, y, size float64
	text          string
	apart         bool // a new region of the page begins with it
}

// piecesOf joins the glyphs of a page, in the order they are drawn.
func piecesOf(glyphs []pdf.Text) []piece {
	var pieces []piece
	var text strings.Builder
	var current piece
	flush := func() {
		if s := squash(cleanText(text.String())); s != "" {
			current.text = s
			pieces = append(pieces, current)
		}
		text.Reset()
	}
	for _, g := range glyphs {
		size := math.Abs(g.FontSize)
		if size < 0.5 || size > 500 || !finite(g.X) || !finite(g.Y) || !finite(g.W) || g.S == "" {
			continue
		}
		gap := g.X - current.right
		same := text.Len() > 0 && math.Abs(g.Y-current.y) < 0.25*size && gap > -0.6*size && gap < 1.2*size
		if !same {
			flush()
			current = piece{left: g.X, y: g.Y, size: size, right: g.X}
		} else if gap > 0.18*size && !strings.HasSuffix(text.String(), " ") {
			text.WriteByte(' ')
		}
		text.WriteString(g.S)
		current.right = math.Max(current.right, g.X+math.Abs(g.W))
		current.size = math.Max(current.size, size)
	}
	flush()
	return pieces
}

func finite(x float64) bool { return !math.IsNaN(x) && math.Abs(x) < 1e6 }

// deepestCut bounds how often a page is cut into regions.
const deepestCut = 12

// readingOrder cuts a page into regions, first by the widest empty bands across
// it, then by empty gutters between columns, and reads each from the top.
func readingOrder(pieces []piece, depth int) []pdfLine {
	if len(pieces) == 0 {
		return nil
	}
	if depth < deepestCut {
		if left, right, ok := cutColumns(pieces); ok {
			return append(readingOrder(left, depth+1), readingOrder(right, depth+1)...)
		}
		if above, below, ok := cutBands(pieces); ok {
			return append(readingOrder(above, depth+1), readingOrder(below, depth+1)...)
		}
	}
	return linesIn(pieces)
}

// cutColumns parts pieces at the widest gutter that none of them crosses, when
// there are lines enough on both of its sides.
func cutColumns(pieces []piece) ([]piece, []piece, bool) {
	sorted := slices.Clone(pieces)
	slices.SortStableFunc(sorted, func(a, b piece) int { return compare(a.left, b.left) })
	best, at, edge := 0.0, 0.0, sorted[0].right
	for _, p := range sorted[1:] {
		if gap := p.left - edge; gap > best {
			best, at = gap, (p.left+edge)/2
		}
		edge = math.Max(edge, p.right)
	}
	if best < 0.8*medianSize(pieces) {
		return nil, nil, false
	}
	var left, right []piece
	for _, p := range pieces {
		if p.left < at {
			left = append(left, p)
		} else {
			right = append(right, p)
		}
	}
	if rowsIn(left) < 4 || rowsIn(right) < 4 || isTabular(left, right) {
		return nil, nil, false
	}
	return left, right, true
}

// isTabular tells whether two sides are cells of the same rows rather than
// columns of prose: their lines are short.
func isTabular(left, right []piece) bool {
	short := 0
	for _, p := range left {
		if len(p.text) < 25 {
			short++
		}
	}
	for _, p := range right {
		if len(p.text) < 25 {
			short++
		}
	}
	return short*3 > (len(left)+len(right))*2
}

func rowsIn(pieces []piece) int {
	var ys []float64
	for _, p := range pieces {
		ys = append(ys, p.y)
	}
	slices.Sort(ys)
	rows := 0
	for i, y := range ys {
		if i == 0 || y-ys[i-1] > 2 {
			rows++
		}
	}
	return rows
}

// cutBands parts pieces at the highest empty band across them.
func cutBands(pieces []piece) ([]piece, []piece, bool) {
	sorted := slices.Clone(pieces)
	slices.SortStableFunc(sorted, func(a, b piece) int { return compare(b.y, a.y) })
	best, at := 0.0, 0
	for i := 1; i < len(sorted); i++ {
		if gap := sorted[i-1].y - sorted[i].y - sorted[i].size; gap > best {
			best, at = gap, i
		}
	}
	if best < 0.9*medianSize(pieces) {
		return nil, nil, false
	}
	return sorted[:at], sorted[at:], true
}

func medianSize(pieces []piece) float64 {
	sizes := make([]float64, len(pieces))
	for i := range pieces {
		sizes[i] = pieces[i].size
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// linesIn joins the pieces that stand on one baseline, from the top.
func linesIn(pieces []piece) []pdfLine {
	slices.SortStableFunc(pieces, func(a, b piece) int { return compare(b.y, a.y) })
	var lines []pdfLine
	for start := 0; start < len(pieces); {
		end := start + 1
		for end < len(pieces) && pieces[start].y-pieces[end].y < 0.35*math.Max(pieces[start].size, pieces[end].size) {
			end++
		}
		row := pieces[start:end]
		slices.SortStableFunc(row, func(a, b piece) int { return compare(a.left, b.left) })
		line := pdfLine{left: row[0].left, y: pieces[start].y, apart: start == 0}
		words := make([]string, len(row))
		for i, p := range row {
			words[i] = p.text
			line.size = math.Max(line.size, p.size)
		}
		line.text = strings.Join(words, " ")
		lines = append(lines, line)
		start = end
	}
	return lines
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
