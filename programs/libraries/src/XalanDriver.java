import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Xalan: one compiled style sheet, used by several threads at once, as it is meant to be. */
public final class XalanDriver {
    private static final String SHEET =
            "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
                    + "<xsl:template match='/'><out><xsl:for-each select='//item'><xsl:sort select='@n'/>"
                    + "<i><xsl:value-of select=\"concat(@n, '-', .)\"/></i></xsl:for-each></out></xsl:template>"
                    + "</xsl:stylesheet>";

    private XalanDriver() {}

    static void transform(Templates templates, int times) {
        try {
            for (int i = 0; i < times; i++) {
                Transformer transformer = templates.newTransformer();
                String text = "<list><item n='2'>b</item><item n='1'>a" + i + "</item></list>";
                StringWriter out = new StringWriter();
                transformer.transform(new StreamSource(new StringReader(text)), new StreamResult(out));
                if (!out.toString().contains("1-a" + i)) throw new IllegalStateException(out.toString());
            }
        } catch (TransformerException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Templates templates = new TransformerFactoryImpl().newTemplates(new StreamSource(new StringReader(SHEET)));
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) threads[i] = new Thread(() -> transform(templates, 5), "worker " + i);
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("transformed");
    }
}
