/** How the browser UI is built: relative paths, so that it works behind any sub-path; nothing inlined, so that no CSP bends. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const SHARED = /node_modules\/(react|react-dom|scheduler|lucide-react)\/|web\/src\/(ui|state|server)\/|src\/client\//;

// biome-ignore lint/style/noDefaultExport: Vite reads this one.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  build: {
    outDir: 'dist',
    target: ['chrome125', 'firefox130', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What every part uses is one file, or it would be two dozen.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', test: SHARED }] } } },
  },
  worker: { format: 'es' },
});
