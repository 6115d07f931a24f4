package bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON as far as {@link HttpShop} needs it: character by character, into maps and lists. */
final class HttpJson {
    private final String text;
    private int at;

    private HttpJson(String text) {
        this.text = text;
    }

    static Object read(String text) {
        HttpJson json = new HttpJson(text);
        Object value = json.value();
        json.space();
        if (json.at < text.length()) throw json.wrong();
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder(512);
        write(value, out);
        return out.toString();
    }

    private Object value() {
        space();
        char c = peek();
        if (c == '{') return object();
        if (c == '[') return array();
        if (c == '"') return string();
        if (text.startsWith("true", at)) return word("true", true);
        if (text.startsWith("false", at)) return word("false", false);
        if (text.startsWith("null", at)) return word("null", null);
        return number();
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        space();
        if (peek() == '}') {
            at++;
            return members;
        }
        while (true) {
            space();
            String name = string();
            space();
            expect(':');
            members.put(name, value());
            space();
            if (peek() == '}') break;
            expect(',');
        }
        at++;
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        at++;
        space();
        if (peek() == ']') {
            at++;
            return elements;
        }
        while (true) {
            elements.add(value());
            space();
            if (peek() == ']') break;
            expect(',');
        }
        at++;
        return elements;
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            if (c == '\\') {
                c = text.charAt(at++);
                if (c == 'n') c = '\n';
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                }
            }
            out.append(c);
        }
        at++;
        return out.toString();
    }

    private Long number() {
        int from = at;
        while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '-')) at++;
        if (from == at) throw wrong();
        return Long.parseLong(text.substring(from, at));
    }

    private Object word(String word, Object value) {
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') at++;
    }

    private char peek() {
        if (at == text.length()) throw wrong();
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) throw wrong();
        at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at " + at);
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                write(member.getKey(), out);
                out.append(':');
                write(member.getValue(), out);
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object element : (List<?>) value) {
                out.append(before);
                write(element, out);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String) {
            String text = (String) value;
            out.append('"');
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (c == '"' || c == '\\') out.append('\\');
                if (c < ' ') out.append(String.format("\\u%04x", (int) c));
                else out.append(c);
            }
            out.append('"');
        } else {
            out.append(value);
        }
    }
}
