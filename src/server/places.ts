/** How many clients are connected, in all and of each owner. It knows no connection. */

export interface PlaceLimits {
  /** Clients that are connected, in all and of one owner. */
  maxConnections: number;
  maxConnectionsPerOwner: number;
}

export interface Places {
  /** The limit that keeps one more client of this owner out, if any does. */
  full(owner: string): string | undefined;
  /** @returns what gives the place back. */
  take(owner: string): () => void;
}

export function createPlaces({ maxConnections, maxConnectionsPerOwner }: PlaceLimits): Places {
  const taken = new Map<string, number>();
  let all = 0;

  function add(owner: string, difference: 1 | -1): void {
    const count = (taken.get(owner) ?? 0) + difference;
    if (count === 0) taken.delete(owner);
    else taken.set(owner, count);
    all += difference;
  }

  return {
    full(owner) {
      if ((taken.get(owner) ?? 0) >= maxConnectionsPerOwner) return 'connections_per_owner';
      return all >= maxConnections ? 'connections' : undefined;
    },
    take(owner) {
      add(owner, 1);
      return () => add(owner, -1);
    },
  };
}
