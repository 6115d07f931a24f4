;; Refs, atoms, agents, promises and futures, which order; and an array, which does not. `refs.clj racy` and
;; `refs.clj ordered`.
(set! *warn-on-reflection* true)

(defn ordered []
  (let [account (ref 0)
        seen (atom [])
        told (promise)
        counter (agent 0)
        ^longs handed (long-array 1)
        tasks (doall (for [_ (range 4)]
                       (future (dotimes [_ 20]
                                 (dosync (alter account inc))
                                 (swap! seen conj 1)
                                 (send counter inc)))))]
    (future (aset handed 0 42) (deliver told true))
    @told
    (assert (= 42 (aget handed 0)))
    (run! deref tasks)
    (await counter)
    (assert (= [80 80 80] [@account (count @seen) @counter]))))

(defn racy []
  (let [^longs shared (long-array 1)
        both (java.util.concurrent.CountDownLatch. 2)
        tasks (doall (for [_ (range 2)]
                       (future
                         (.countDown both)
                         (.await both)
                         (aset shared 0 (inc (aget shared 0))))))] ; race: clojure
    (run! deref tasks)))

(dotimes [_ 2]
  (if (= "racy" (first *command-line-args*)) (racy) (ordered)))
(println "done")
(shutdown-agents)
