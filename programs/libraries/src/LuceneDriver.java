import org.apache.lucene.analysis.SimpleAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.RAMDirectory;

/** Lucene: two threads add documents to an index in memory, a third one searches it. */
public final class LuceneDriver {
    private LuceneDriver() {}

    static void add(IndexWriter writer, String who) {
        try {
            for (int i = 0; i < 12; i++) {
                Document document = new Document();
                document.add(new Field("id", who + i, Field.Store.YES, Field.Index.NOT_ANALYZED));
                document.add(new Field("text", "word " + who + " number " + i % 3, Field.Store.NO, Field.Index.ANALYZED));
                writer.addDocument(document);
                if (i % 6 == 5) writer.commit();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void search(RAMDirectory directory) {
        try {
            for (int i = 0; i < 6; i++) {
                IndexReader reader = IndexReader.open(directory);
                IndexSearcher searcher = new IndexSearcher(reader);
                searcher.search(new TermQuery(new Term("text", "word")), null, 5);
                searcher.close();
                reader.close();
                Thread.sleep(3);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        RAMDirectory directory = new RAMDirectory();
        IndexWriter writer = new IndexWriter(directory, new SimpleAnalyzer(), true, IndexWriter.MaxFieldLength.UNLIMITED);
        writer.setMaxBufferedDocs(4);
        writer.commit();
        Thread[] threads = {
            new Thread(() -> add(writer, "a"), "writer a"),
            new Thread(() -> add(writer, "b"), "writer b"),
            new Thread(() -> search(directory), "searcher")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        writer.close();
        IndexReader reader = IndexReader.open(directory);
        System.out.println("documents " + reader.numDocs());
        reader.close();
    }
}
