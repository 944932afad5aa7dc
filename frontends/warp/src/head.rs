//! [`hand_over`]: a request's head, past warp's filters as a whole.

use std::sync::{Arc, Mutex, PoisonError};

use http::{Request, request};
use warp::{Filter, Rejection};

/// The head that waits for the filter; nothing once it was taken.
#[derive(Clone)]
struct Head(Arc<Mutex<Option<request::Parts>>>);

/// Lets [`filter`](crate::filter) have the request's head as it is: extensions too, and no header copied. Other filters
/// still see its method and target, but no header and no extension.
///
/// ```
/// use catalogue_core::{Catalogue, MemoryStorage};
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
pub fn hand_over<B>(request: Request<B>) -> Request<B> {
    let (head, body) = request.into_parts();
    let mut left = Request::new(body);
    *left.method_mut() = head.method.clone();
    *left.uri_mut() = head.uri.clone();
    left.extensions_mut().insert(Head(Arc::new(Mutex::new(Some(head)))));
    left
}

/// The request whose head was handed over; rejects one whose head was not.
pub(crate) fn handed_over() -> impl Filter<Extract = (Request<()>,), Error = Rejection> + Copy {
    warp::ext::get::<Head>().map(|Head(place)| {
        let head = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        Request::from_parts(head.expect("the filter rejects nothing, so it takes the head once"), ())
    })
}
