package org.photofinish.junit5;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON: objects as maps, arrays as lists, numbers as doubles. What the agent and the tool write
 * is well-formed; whatever is not ends in an IllegalArgumentException.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) throw json.bad();
        return value;
    }

    /** A member of an object; null if it has none, or is none. */
    static Object get(Object object, String name) {
        return object instanceof Map<?, ?> map ? map.get(name) : null;
    }

    static String text(Object object, String name) {
        return get(object, name) instanceof String text ? text : "";
    }

    static int number(Object object, String name) {
        return get(object, name) instanceof Double number ? number.intValue() : 0;
    }

    static List<?> list(Object object, String name) {
        return get(object, name) instanceof List<?> list ? list : List.of();
    }

    private Object value() {
        space();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        space();
        if (take('}')) return map;
        do {
            space();
            String name = string();
            space();
            expect(':');
            map.put(name, value());
            space();
        } while (take(','));
        expect('}');
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        at++;
        space();
        if (take(']')) return list;
        do {
            list.add(value());
            space();
        } while (take(','));
        expect(']');
        return list;
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') return out.toString();
            out.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = next();
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                if (at + 4 > text.length()) throw bad();
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        if (start == at) throw bad();
        return Double.valueOf(text.substring(start, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw bad();
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    private char peek() {
        if (at >= text.length()) throw bad();
        return text.charAt(at);
    }

    private char next() {
        char c = peek();
        at++;
        return c;
    }

    private boolean take(char c) {
        boolean there = at < text.length() && text.charAt(at) == c;
        if (there) at++;
        return there;
    }

    private void expect(char c) {
        if (!take(c)) throw bad();
    }

    private IllegalArgumentException bad() {
        return new IllegalArgumentException("no JSON at character " + at);
    }
}
