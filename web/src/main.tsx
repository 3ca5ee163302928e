/** The page begins here: it trades the launch link, if it came by one, connects, and draws. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { startAttention } from './connection/attention.ts';
import { PageContext } from './page.tsx';
import { account, redeemLaunchLink } from './server/account.ts';
import { openClient } from './server/client.ts';
import { followSessions } from './state/sessions.ts';
import { createShown } from './state/shown.ts';
import './styles/base.css';
import './styles/shell.css';

await redeemLaunchLink();
// Into a tab that shows the page already, only the end of the address is new.
addEventListener('hashchange', () => void redeemLaunchLink());

const client = openClient();
const page = { client, shown: createShown(client) };
followSessions(client);
account.subscribe(() => account.get().kind === 'in' && client.retry());
startAttention(client);

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <PageContext value={page}>
        <App />
      </PageContext>
    </StrictMode>,
  );
