package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// largestPart is how much one part of an archive may unpack to.
const largestPart = 32 << 20

// readDOCX reads the body, the footnotes and the properties of a document that a
// word processor wrote.
func readDOCX(doc Document) (*workv1.Page, error) {
	archive, err := zip.NewReader(bytes.NewReader(doc.Body), int64(len(doc.Body)))
	if err != nil {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %w", mediaDOCX, err)
	}
	body, err := partOf(archive, "word/document.xml")
	if err != nil {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %w", mediaDOCX, err)
	}
	w := word{numbered: numberings(archive), links: linksOf(archive), styles: stylesOf(archive)}
	if err = w.read(body); err != nil {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %w", mediaDOCX, err)
	}
	w.readNotes(archive)
	page := &workv1.Page{Text: tidyLines(cleanText(w.out.String())), Kind: kindDocument}
	about := propertiesOf(archive)
	page.Title, page.Author = squash(cleanText(about.Title)), squash(cleanText(about.Creator))
	page.Language = strings.TrimSpace(about.Language)
	if t, ok := parseDate(about.Created); ok {
		page.Published = timestamppb.New(t)
	}
	if page.Title == "" {
		for _, s := range sectionsOf(page.GetText()) {
			if len(s.GetHeadingPath()) > 0 {
				page.Title = s.GetHeadingPath()[0]
				break
			}
		}
	}
	return page, nil
}

// partOf unpacks one part of an archive; one that is larger than largestPart is
// refused.
func partOf(archive *zip.Reader, name string) ([]byte, error) {
	f, err := archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, largestPart+1))
	if err != nil {
		return nil, err
	}
	if len(data) > largestPart {
		return nil, fault.Permanent(fault.TooLarge, "%s unpacks to more than %d bytes", name, largestPart)
	}
	return data, nil
}

// properties is what a document says of itself.
type properties struct {
	Title    string `xml:"title"`
	Creator  string `xml:"creator"`
	Created  string `xml:"created"`
	Language string `xml:"language"`
}

func propertiesOf(archive *zip.Reader) properties {
	var p properties
	data, err := partOf(archive, "docProps/core.xml")
	if err == nil {
		_ = xml.Unmarshal(data, &p)
	}
	return p
}

// linksOf maps the ids of relations to the addresses outside that they lead to.
func linksOf(archive *zip.Reader) map[string]string {
	data, err := partOf(archive, "word/_rels/document.xml.rels")
	if err != nil {
		return nil
	}
	var rels struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
			Mode   string `xml:"TargetMode,attr"`
		}
	}
	_ = xml.Unmarshal(data, &rels)
	links := map[string]string{}
	for _, r := range rels.Relationship {
		if r.Mode == "External" && (strings.HasPrefix(r.Target, "http://") || strings.HasPrefix(r.Target, "https://")) {
			links[r.ID] = linkEscaper.Replace(r.Target)
		}
	}
	return links
}

// stylesOf maps the ids of styles, which are in the author's language, to their
// names, which are in English for those that come with the word processor.
func stylesOf(archive *zip.Reader) map[string]string {
	data, err := partOf(archive, "word/styles.xml")
	if err != nil {
		return nil
	}
	var sheet struct {
		Style []struct {
			ID   string `xml:"styleId,attr"`
			Name struct {
				Val string `xml:"val,attr"`
			} `xml:"name"`
		} `xml:"style"`
	}
	_ = xml.Unmarshal(data, &sheet)
	names := map[string]string{}
	for _, s := range sheet.Style {
		names[s.ID] = strings.ToLower(s.Name.Val)
	}
	return names
}

// numberings tells which lists are numbered, by "list/level".
func numberings(archive *zip.Reader) map[string]bool {
	data, err := partOf(archive, "word/numbering.xml")
	if err != nil {
		return nil
	}
	type value struct {
		Val string `xml:"val,attr"`
	}
	var numbering struct {
		Abstract []struct {
			ID    string `xml:"abstractNumId,attr"`
			Level []struct {
				Index  string `xml:"ilvl,attr"`
				Format value  `xml:"numFmt"`
			} `xml:"lvl"`
		} `xml:"abstractNum"`
		Num []struct {
			ID       string `xml:"numId,attr"`
			Abstract value  `xml:"abstractNumId"`
		} `xml:"num"`
	}
	_ = xml.Unmarshal(data, &numbering)
	numbered := map[string]bool{}
	for _, n := range numbering.Num {
		for _, a := range numbering.Abstract {
			if a.ID != n.Abstract.Val {
				continue
			}
			for _, l := range a.Level {
				numbered[n.ID+"/"+l.Index] = l.Format.Val != "bullet" && l.Format.Val != "none" && l.Format.Val != ""
			}
		}
	}
	return numbered
}
