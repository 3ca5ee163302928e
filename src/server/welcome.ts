/**
 * The page at `/`: signs a browser in by the launch link or a token, and says how clients connect. It runs no inline
 * script, and must never put a credential anywhere but into the one request that trades it.
 */
import type { FastifyInstance } from 'fastify';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pixir</title>
<script type="module" src="sign-in.js"></script>
</head>
<body>
<h1>Pixir</h1>
<p>An agent server that speaks the Agent Client Protocol (ACP) over WebSocket and Streamable HTTP.</p>
<p id="state" role="status">Not signed in.</p>
<form id="token-form">
<label>Token <input id="token" type="password" autocomplete="off" required></label>
<button>Sign in</button>
</form>
<button id="sign-out" hidden>Sign out</button>
<h2>Connect a client</h2>
<p>Connect an ACP client to the path <code>/acp</code> of this server with the header
<code>Authorization: Bearer &lt;token&gt;</code>. The token is in the file <code>token</code> of the server's data
directory, unless it was configured otherwise.</p>
</body>
</html>
`;

/** Plain JavaScript for any browser of the last years. Paths are relative: a proxy may put something before them. */
const SCRIPT = `const byId = (id) => document.getElementById(id);

const show = (signedIn, text) => {
  byId('state').textContent = text;
  byId('token-form').hidden = signedIn;
  byId('sign-out').hidden = !signedIn;
};

const post = (path, body) =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function signIn(credential) {
  const answer = await post('api/login', credential);
  if (answer.ok) show(true, 'Signed in as ' + (await answer.json()).name + '.');
  else if (answer.status === 429) show(false, 'Too many attempts. Wait a minute.');
  else if ('code' in credential) show(false, 'This link has been used, or is older than a minute. Sign in with the token.');
  else show(false, 'The server does not know this token.');
}

byId('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn({ token: byId('token').value });
  byId('token').value = '';
});

byId('sign-out').addEventListener('click', async () => {
  const answer = await post('api/logout', {});
  if (answer.ok || answer.status === 401) show(false, 'Signed out.');
  else show(true, 'The server did not sign this browser out. Try again.');
});

const code = new URLSearchParams(location.hash.slice(1)).get('launch');
// The code is good for nothing any more, and belongs in no history.
history.replaceState(null, '', location.pathname);
if (code !== null) await signIn({ code });
else if ((await fetch('acp')).status === 426) show(true, 'Signed in.');
`;

export function registerWelcome(app: FastifyInstance): void {
  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
  app.get('/sign-in.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT));
}
