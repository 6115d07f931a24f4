import org.apache.commons.pool.BasePoolableObjectFactory;
import org.apache.commons.pool.impl.GenericObjectPool;
import org.apache.commons.pool.impl.StackObjectPool;

/** commons-pool: clients, somebody who changes settings, and the pool's own evictor. */
public final class PoolDriver {
    private PoolDriver() {}

    /** Objects that remember whether they are in use. */
    static final class Factory extends BasePoolableObjectFactory {
        private int made;

        @Override
        public synchronized Object makeObject() {
            return new StringBuffer("object " + made++);
        }
    }

    static void use(GenericObjectPool pool, int times) {
        try {
            for (int i = 0; i < times; i++) {
                Object o = pool.borrowObject();
                Thread.sleep(1);
                pool.returnObject(o);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void useStack(StackObjectPool pool, int times) {
        try {
            for (int i = 0; i < times; i++) {
                Object o = pool.borrowObject();
                pool.returnObject(o);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void administer(GenericObjectPool pool) {
        try {
            Thread.sleep(5);
            pool.setMaxActive(6);
            pool.setMaxIdle(3);
            pool.setTestOnBorrow(true);
            pool.setMinEvictableIdleTimeMillis(1);
            pool.setTimeBetweenEvictionRunsMillis(10);
            Thread.sleep(60);
            pool.evict();
            pool.clear();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        GenericObjectPool pool = new GenericObjectPool(new Factory(), 4);
        StackObjectPool stack = new StackObjectPool(new Factory(), 2);
        Thread[] threads = {
            new Thread(() -> use(pool, 40), "client 1"),
            new Thread(() -> use(pool, 40), "client 2"),
            new Thread(() -> useStack(stack, 40), "stack 1"),
            new Thread(() -> useStack(stack, 40), "stack 2"),
            new Thread(() -> administer(pool), "administrator")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("active " + pool.getNumActive() + " " + stack.getNumActive());
        pool.close();
        stack.close();
    }
}
