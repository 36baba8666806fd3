package jinja

import (
	"html"
	"strings"
)

// A markup is text that the filters safe and escape return. It escapes strings that it is
// joined with, although nothing else is escaped here.
type markup string

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escape returns a value as markup.
func (s *run) escape(v any) markup {
	if m, ok := v.(markup); ok {
		return m
	}
	text := s.str(v)
	s.alloc(2 * len(text))
	return markup(htmlEscapes.Replace(text))
}

// stripTags is the filter striptags.
func (s *run) stripTags(text string) string {
	for _, tag := range [][2]string{{"<!--", "-->"}, {"<", ">"}} {
		var b strings.Builder
		for {
			i := strings.Index(text, tag[0])
			if i < 0 {
				break
			}
			j := strings.Index(text[i:], tag[1])
			if j < 0 {
				break
			}
			b.WriteString(text[:i])
			text = text[i+j+len(tag[1]):]
		}
		b.WriteString(text)
		text = b.String()
	}
	return html.UnescapeString(strings.Join(strings.FieldsFunc(text, isSpace), " "))
}
