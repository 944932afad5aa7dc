// oidc-provider for tests. Routes below /test issue and revoke tokens, and change the keys.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecured } from 'node:https';
import * as jose from 'jose';
import Provider from 'oidc-provider';

const [folder, port, certificate] = process.argv.slice(2);
const RESOURCE = 'https://api.example.com/api/v1';
const SECRET = 'a-secret-of-the-tests-alone-0123456789ab';
// Client secret for introspection, with characters that must be encoded.
const API_SECRET = '100% of+the&tests:own/secret=0123456789';
const FILE = `${folder}/keys.json`;

// All keys ever created, by name, and the names of the published keys, the signing key first. A restart keeps them.
const state = existsSync(FILE) ? JSON.parse(readFileSync(FILE)) : { keys: {}, names: [] };
let issuer;
let provider;

writeFileSync(`${folder}/client-secret`, `${API_SECRET}\n`, { mode: 0o600 });

const save = () => writeFileSync(FILE, JSON.stringify(state));

// Returns the key with this name, after creating it if necessary.
async function key(name) {
  state.keys[name] ??= await make(name);
  save();
  return state.keys[name];
}

async function make(name) {
  const alg = name.split('-')[0];
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { ...await jose.exportJWK(privateKey), kid: name, alg, use: 'sig' };
}

// Publishes the keys with these names.
async function publish(names) {
  for (const name of names) await key(name);
  state.names = names;
  save();
  provider = new Provider(issuer, {
    jwks: { keys: names.map((name) => state.keys[name]) },
    scopes: ['read:profile', 'read:courses'],
    clients: [{
      client_id: 'partner', client_secret: SECRET, grant_types: ['client_credentials'], response_types: [], redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    }, {
      client_id: 'api:1', client_secret: API_SECRET, grant_types: [], response_types: [], redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    }],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource) => ({
          scope: 'read:profile read:courses', audience: resource, accessTokenFormat: ctx.get('x-format') || 'jwt',
          accessTokenTTL: Number(ctx.get('x-lifetime') || 300), jwt: { sign: { alg: ctx.get('x-alg') || 'ES256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ account: process.env.ACCOUNT ?? 'a' }),
  });
}

// Sends a form to an endpoint as the client `partner`.
async function post(path, form, more) {
  const authorization = `Basic ${Buffer.from(`partner:${SECRET}`).toString('base64')}`;
  const options = { method: 'POST', headers: { authorization, ...more }, body: new URLSearchParams(form) };
  return fetch(`http://127.0.0.1:${server.address().port}${path}`, options);
}

// Returns a token from the token endpoint.
async function token({ alg = 'ES256', scope = 'read:profile read:courses', lifetime = '300', format = 'jwt', resource = RESOURCE }) {
  const headers = { 'x-alg': alg, 'x-lifetime': lifetime, 'x-format': format };
  const response = await (await post('/token', { grant_type: 'client_credentials', resource, scope }, headers)).json();
  if (!response.access_token) throw new Error(JSON.stringify(response));
  return response.access_token;
}

// Returns a signed token that the token endpoint would not issue: a valid token with changed header or claims.
async function sign({ kid = state.names[0], typ = 'at+jwt', claims = '{}' }) {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: issuer, aud: RESOURCE, sub: 'partner', client_id: 'partner', account: 'a', jti: 'j', iat: now, exp: now + 300, scope: 'read:courses' };
  const jwk = await key(kid);
  const header = { alg: jwk.alg, kid, ...(typ && { typ }) };
  return new jose.SignJWT({ ...usual, ...JSON.parse(claims) }).setProtectedHeader(header).sign(await jose.importJWK(jwk, jwk.alg));
}

// Revokes a token at the revocation endpoint.
async function revoke({ token }) {
  const { status } = await post('/token/revocation', { token });
  if (status !== 200) throw new Error(status);
}

const routes = {
  '/test/token': token,
  '/test/revoke': revoke,
  '/test/sign': sign,
  '/test/keys': async ({ names }) => { await publish(names.split(',')); },
};

async function handle(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://a');
  const route = routes[pathname];
  if (!route) return provider.callback()(request, response);
  try {
    const made = await route(Object.fromEntries(searchParams));
    response.end(JSON.stringify(made ?? null));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

const origin = (server, scheme, host) => `${scheme}://${host}:${server.address().port}`;
const server = createServer(handle).listen(Number(port), '127.0.0.1', async () => {
  issuer = origin(server, 'http', '127.0.0.1');
  const ready = async () => {
    await publish(state.names.length ? state.names : ['ES256-1', 'RS256-1', 'EdDSA-1']);
    console.log(`${origin(server, 'http', '127.0.0.1').slice(7)} ${issuer}`);
  };
  if (!certificate) return ready();
  const files = { cert: readFileSync(`${certificate}/chain.pem`), key: readFileSync(`${certificate}/key.pem`) };
  const secured = createSecured(files, handle).listen(0, '127.0.0.1', () => {
    issuer = origin(secured, 'https', 'localhost');
    ready();
  });
});
