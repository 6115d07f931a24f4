import java.io.File;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;

/** Checks XML files against a schema: {@code java Validate.java SCHEMA FILE...} */
public class Validate {
    public static void main(String[] args) throws Exception {
        var factory = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
        var validator = factory.newSchema(new File(args[0])).newValidator();
        for (int i = 1; i < args.length; i++) {
            // Throws at the first thing that is wrong.
            validator.validate(new StreamSource(new File(args[i])));
        }
    }
}
