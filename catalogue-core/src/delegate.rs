//! [`delegate`]: a trait for an `Arc` and a `Box` of what implements it, also where its type is not known.

/// Implements the trait for both pointers. Each method calls that of the value behind the pointer.
macro_rules! delegate {
    ($trait:ident { $($methods:tt)* }) => {
        $crate::delegate::delegate! { [std::sync::Arc] $trait { $($methods)* } }
        $crate::delegate::delegate! { [Box] $trait { $($methods)* } }
    };
    ([$($pointer:tt)*] $trait:ident {
        $(async fn $method:ident($($name:ident: $of:ty),* $(,)?) $(-> $result:ty)?;)*
        $(fn $ready:ident($($ready_name:ident: $ready_of:ty),*) $(-> $ready_result:ty)?;)*
    }) => {
        #[async_trait::async_trait]
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: $trait + ?Sized> $trait for $($pointer)*<T> {
            $(
                async fn $method(&self, $($name: $of),*) $(-> $result)? {
                    (**self).$method($($name),*).await
                }
            )*
            $(
                fn $ready(&self, $($ready_name: $ready_of),*) $(-> $ready_result)? {
                    (**self).$ready($($ready_name),*)
                }
            )*
        }
    };
}
pub(crate) use delegate;
