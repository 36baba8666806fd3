package pyvalue

import (
	"html"
	"strings"
)

// A Markup is text that the filters safe and escape return. It escapes strings that it is
// joined with, although nothing else is escaped here.
type Markup string

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// Escape returns a value as markup.
func (s *Run) Escape(v any) Markup {
	if m, ok := v.(Markup); ok {
		return m
	}
	text := s.Str(v)
	s.Alloc(2 * len(text))
	return Markup(htmlEscapes.Replace(text))
}

// StripTags is the filter striptags.
func (s *Run) StripTags(text string) string {
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
	return html.UnescapeString(strings.Join(strings.FieldsFunc(text, IsSpace), " "))
}
