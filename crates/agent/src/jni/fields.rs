//! Fields by id, with the type of what they hold and the class that has them.

use super::{Jni, Local, Ref, c, jni};
use jni_sys::{jclass, jfieldID, jint, jlong, jobject};
use std::marker::PhantomData;
use std::ptr;

/// A field of the objects of a class; `T` is what it holds.
#[derive(Debug)]
pub struct Field<'c, T> {
    id: jfieldID,
    class: Ref<'c>,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for Field<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<'_, T> {}

/// Stands for references.
#[derive(Debug)]
pub struct Object;

/// What fields of a primitive type have for a descriptor.
pub trait Primitive {
    const DESC: &str;
}

impl Primitive for jint {
    const DESC: &str = "I";
}

impl Primitive for jlong {
    const DESC: &str = "J";
}

impl Primitive for bool {
    const DESC: &str = "Z";
}

impl<'env> Jni<'env> {
    pub fn field<'c, T: Primitive>(self, class: Ref<'c>, name: &str) -> Option<Field<'c, T>> {
        self.any_field(class, name, T::DESC)
    }

    pub fn reference_field<'c>(
        self,
        class: Ref<'c>,
        name: &str,
        desc: &str,
    ) -> Option<Field<'c, Object>> {
        self.any_field(class, name, desc)
    }

    fn any_field<'c, T>(self, class: Ref<'c>, name: &str, desc: &str) -> Option<Field<'c, T>> {
        let (name, desc) = (c(name), c(desc));
        let raw = class.non_null()?.raw();
        // SAFETY: a live class and terminated names.
        let id = unsafe { jni!(self, GetFieldID, raw, name.as_ptr(), desc.as_ptr()) };
        (!self.clear() && !id.is_null()).then_some(Field {
            id,
            class,
            holds: PhantomData,
        })
    }

    /// The object, if it has the field: the JVM would read whatever is there.
    fn having<T>(self, o: Ref, field: Field<T>) -> Option<jobject> {
        let has = !o.is_null() && self.is_instance(o, field.class);
        has.then_some(o.raw())
    }

    /// Null of what has no such field.
    pub fn object_field(self, o: Ref, field: Field<Object>) -> Local<'env> {
        let Some(o) = self.having(o, field) else {
            return self.owned(ptr::null_mut());
        };
        // SAFETY: an object that has the field, which holds a reference.
        self.owned(unsafe { jni!(self, GetObjectField, o, field.id) })
    }

    pub fn int_field(self, o: Ref, field: Field<jint>) -> jint {
        self.having(o, field).map_or(0, |o| {
            // SAFETY: an object that has the field, which holds an int.
            unsafe { jni!(self, GetIntField, o, field.id) }
        })
    }

    pub fn set_int_field(self, o: Ref, field: Field<jint>, value: jint) {
        if let Some(o) = self.having(o, field) {
            // SAFETY: an object that has the field, which holds an int.
            unsafe { jni!(self, SetIntField, o, field.id, value) };
        }
    }

    pub fn long_field(self, o: Ref, field: Field<jlong>) -> jlong {
        self.having(o, field).map_or(0, |o| {
            // SAFETY: an object that has the field, which holds a long.
            unsafe { jni!(self, GetLongField, o, field.id) }
        })
    }

    pub fn boolean_field(self, o: Ref, field: Field<bool>) -> bool {
        self.having(o, field).is_some_and(|o| {
            // SAFETY: an object that has the field, which holds a boolean.
            unsafe { jni!(self, GetBooleanField, o, field.id) != 0 }
        })
    }

    pub fn set_boolean_field(self, o: Ref, field: Field<bool>, value: bool) {
        if let Some(o) = self.having(o, field) {
            // SAFETY: an object that has the field, which holds a boolean.
            unsafe { jni!(self, SetBooleanField, o, field.id, value.into()) };
        }
    }
}

/// A static field of a class, by name and type.
#[derive(Debug)]
pub struct StaticField {
    class: jclass,
    id: jfieldID,
}

impl<'env> Jni<'env> {
    fn static_field(self, class: Ref<'env>, name: &str, desc: &str) -> Option<StaticField> {
        let (name, desc) = (c(name), c(desc));
        let class = class.non_null()?.raw();
        // SAFETY: a live class and terminated names.
        let id = unsafe { jni!(self, GetStaticFieldID, class, name.as_ptr(), desc.as_ptr()) };
        (!self.clear() && !id.is_null()).then_some(StaticField { class, id })
    }

    /// Null if there is no such field. `desc` is that of a reference.
    pub fn static_object(self, class: Ref<'env>, name: &str, desc: &str) -> Ref<'env> {
        let field = self.static_field(class, name, desc);
        field.filter(|_| is_reference(desc)).map_or(Ref::NULL, |f| {
            // SAFETY: just looked up in the class, as a reference.
            self.made(unsafe { jni!(self, GetStaticObjectField, f.class, f.id) })
        })
    }

    /// # Safety
    /// The value must be of the field's type: the JVM does not check it.
    pub unsafe fn set_static_object(self, class: Ref<'env>, name: &str, desc: &str, value: Ref) {
        let field = self.static_field(class, name, desc);
        if let Some(f) = field.filter(|_| is_reference(desc)) {
            // SAFETY: just looked up in the class; the value fits, says the caller.
            unsafe { jni!(self, SetStaticObjectField, f.class, f.id, value.raw()) };
        }
    }

    /// An int or a long; 0 if there is no such field.
    pub fn static_number(self, class: Ref<'env>, name: &str, is_int: bool) -> jlong {
        match self.static_field(class, name, number_desc(is_int)) {
            // SAFETY: just looked up in the class, as an int.
            Some(f) if is_int => unsafe { jni!(self, GetStaticIntField, f.class, f.id).into() },
            // SAFETY: just looked up in the class, as a long.
            Some(f) => unsafe { jni!(self, GetStaticLongField, f.class, f.id) },
            None => 0,
        }
    }

    pub fn set_static_number(self, class: Ref<'env>, name: &str, is_int: bool, value: jlong) {
        match self.static_field(class, name, number_desc(is_int)) {
            // SAFETY: just looked up in the class, as an int.
            Some(f) if is_int => unsafe {
                jni!(self, SetStaticIntField, f.class, f.id, value as jint)
            },
            // SAFETY: just looked up in the class, as a long.
            Some(f) => unsafe { jni!(self, SetStaticLongField, f.class, f.id, value) },
            None => {}
        }
    }
}

fn is_reference(desc: &str) -> bool {
    desc.starts_with(['L', '['])
}

fn number_desc(is_int: bool) -> &'static str {
    if is_int { "I" } else { "J" }
}
