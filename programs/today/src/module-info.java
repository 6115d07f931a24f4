/** A module of its own, for the module path and images. */
module today {
    exports today;
}
