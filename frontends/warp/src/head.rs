//! [`hand_over`]: a request's head, past warp's filters as a whole.

use std::sync::Arc;

use http::{Request, request};
use warp::{Filter, Rejection};

/// The head, for all filters that ask for it.
#[derive(Clone)]
struct Head(Arc<request::Parts>);

/// Lets [`filter`](crate::filter) have the request's head as it is: extensions too, and no header copied. Other filters see
/// its method and target alone, so a host whose own filters read headers, extensions or the version leaves it out.
///
/// ```
/// use catalogue_core::Catalogue;
/// use catalogue_core::storage::MemoryStorage;
/// use http::Request;
/// use tower_service::Service;
///
/// # async fn answer() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build()?;
/// let mut service = warp::service(catalogue_warp::filter(catalogue));
/// // What a server does with each request that it has read:
/// let request = Request::get("/docs").body(String::new())?;
/// let response = service.call(catalogue_warp::hand_over(request)).await?;
/// assert_eq!(response.status(), 200);
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(answer()).unwrap();
/// ```
#[must_use]
pub fn hand_over<B>(request: Request<B>) -> Request<B> {
    let (head, body) = request.into_parts();
    let mut left = Request::new(body);
    *left.method_mut() = head.method.clone();
    *left.uri_mut() = head.uri.clone();
    left.extensions_mut().insert(Head(Arc::new(head)));
    left
}

/// The head that was handed over; rejects a request whose head was not.
pub(crate) fn handed_over() -> impl Filter<Extract = (Arc<request::Parts>,), Error = Rejection> + Copy {
    warp::ext::get::<Head>().map(|Head(head)| head)
}
