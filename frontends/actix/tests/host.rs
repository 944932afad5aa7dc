//! The catalogue next to the services of a host application.

use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::{App, HttpRequest, HttpResponse, web};
use catalogue_actix::route;
use catalogue_core::Catalogue;
use catalogue_core::storage::MemoryStorage;

#[actix_web::test]
async fn catalogue_can_be_route_of_one_resource() {
    let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build().unwrap();
    let app = init_service(App::new().route("/docs/{document}", route(catalogue))).await;
    for (path, status) in [("/docs/llms.txt", 200), ("/docs", 404)] {
        let request = TestRequest::get().uri(path).to_request();
        assert_eq!(call_service(&app, request).await.status(), status, "{path}");
    }
}

#[actix_web::test]
async fn request_and_response_are_converted_with_body() {
    async fn describe(head: HttpRequest, body: web::Bytes) -> HttpResponse {
        let request = catalogue_actix::request_with(&head, body);
        let cookie = request.headers()["cookie"].clone();
        let describe = format!("{} {} {:?}", request.method(), request.uri(), request.body());
        catalogue_actix::response(
            http::Response::builder().status(201).header("x-cookie", cookie).body(describe.into()).unwrap(),
        )
    }
    let app = App::new().service(web::scope("/mine").default_service(web::to(describe)));
    let request = TestRequest::post().uri("/mine/a%2Fb?c=+").insert_header(("cookie", "session=1")).set_payload("1234");
    let response = call_service(&init_service(app).await, request.to_request()).await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers().get("x-cookie").unwrap(), "session=1");
    assert_eq!(read_body(response).await, "POST /mine/a%2Fb?c=+ b\"1234\"");
}
