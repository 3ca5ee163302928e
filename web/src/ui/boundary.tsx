/** Where drawing fails, or a part of the page cannot be loaded, the rest stays, and this says so. Nothing is lost by it. */
import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';

interface BoundaryProps {
  /** Another one is tried anew. */
  name: string;
  children: ReactNode;
}

interface BoundaryState {
  failed: boolean;
}

/** React knows of failures only in classes. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false };

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true };
  }

  override componentDidUpdate({ name }: BoundaryProps): void {
    if (this.state.failed && name !== this.props.name) this.setState({ failed: false });
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="notice-page" role="alert">
        <h2>This part of the page could not be shown</h2>
        <p>Nothing is lost: everything is at the server. It may help to load the page anew.</p>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    );
  }
}
