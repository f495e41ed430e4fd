package engine

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// clean replaces what Postgres does not take in a text, NUL and broken UTF-8, byte
// by byte: offsets into the text stay true.
func clean(message proto.Message) {
	cleanMessage(message.ProtoReflect())
}

func cleanMessage(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			// No result has one.
		case field.IsList():
			cleanList(field, value.List())
		case field.Kind() == protoreflect.StringKind:
			text := value.String()
			if dirty(text) {
				m.Set(field, protoreflect.ValueOfString(cleaned(text)))
			}
		case field.Message() != nil:
			cleanMessage(value.Message())
		}
		return true
	})
}

func cleanList(field protoreflect.FieldDescriptor, list protoreflect.List) {
	for i := range list.Len() {
		switch {
		case field.Message() != nil:
			cleanMessage(list.Get(i).Message())
		case field.Kind() == protoreflect.StringKind && dirty(list.Get(i).String()):
			list.Set(i, protoreflect.ValueOfString(cleaned(list.Get(i).String())))
		}
	}
}

func dirty(text string) bool {
	return strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)
}

func cleaned(text string) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == 0:
			out = append(out, ' ')
		case r == utf8.RuneError && size == 1:
			out = append(out, '?')
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(out)
}
