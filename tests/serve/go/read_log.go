// Read a whole log of C2SP tlog-tiles with the library that Go's checksum database is made of, which shares nothing
// with the ledger: checkpoint signature, every entry, every tile, an older checkpoint, and a receipt.
//
//	read_log URL VERIFIER OLDER-CHECKPOINT RECEIPT
//
// What is wrong ends it with one line and exit code 1. What is right is told in lines of "word value".
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func stop(what string, arguments ...interface{}) {
	fmt.Printf(what+"\n", arguments...)
	os.Exit(1)
}

func must(err error, what string) {
	if err != nil {
		stop("%s: %v", what, err)
	}
}

// The log at a URL. Go's client asks for gzip by itself, and unpacks it.
type log string

func (at log) get(name, media string) []byte {
	answer, err := http.Get(string(at) + "/" + name)
	must(err, name)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	must(err, name)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != media {
		stop("%s: %s, %s", name, answer.Status, answer.Header.Get("Content-Type"))
	}
	if name != "checkpoint" && !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
		stop("%s: may be kept for good, and does not say so", name)
	}
	return content
}

// Go has the height of tiles in its paths, tile/8/0/001; C2SP tlog-tiles fixed it, and left it out.
func path(tile tlog.Tile) string {
	return "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
}

// What tlog asks for tiles, which it verifies against the tree.
func (at log) Height() int { return height }

func (at log) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var contents [][]byte
	for _, tile := range tiles {
		contents = append(contents, at.get(path(tile), "application/octet-stream"))
	}
	return contents, nil
}

func (at log) SaveTiles([]tlog.Tile, [][]byte) {}

// The tree head of a checkpoint that the log's key signed.
func opened(signed []byte, verifier note.Verifier) tlog.Tree {
	checked, err := note.Open(signed, note.VerifierList(verifier))
	must(err, "signature")
	lines := strings.Split(checked.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		stop("checkpoint: %q", checked.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err, "size")
	root, err := tlog.ParseHash(lines[2])
	must(err, "root")
	return tlog.Tree{N: size, Hash: root}
}

func (at log) entries(size int64) [][]byte {
	var entries [][]byte
	for first := int64(0); first < size; first += 1 << height {
		width := size - first
		if width > 1<<height {
			width = 1 << height
		}
		tile := tlog.Tile{H: height, L: -1, N: first >> height, W: int(width)}
		rest := at.get(strings.Replace(path(tile), "tile/data/", "tile/entries/", 1), "application/octet-stream")
		for ; len(rest) > 0; width-- {
			length := int(binary.BigEndian.Uint16(rest))
			entries, rest = append(entries, rest[2:2+length]), rest[2+length:]
		}
		if width != 0 {
			stop("bundle %d: %d entries are missing", first>>height, width)
		}
	}
	return entries
}

func main() {
	at := log(os.Args[1])
	verifier, err := note.NewVerifier(os.Args[2])
	must(err, "key")
	tree := opened(at.get("checkpoint", "text/plain; charset=utf-8"), verifier)

	// Every entry, hashed anew, leads to the root; every tile is what follows from the entries.
	entries := at.entries(tree.N)
	var stored []tlog.Hash
	ours := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for place, index := range indexes {
			hashes[place] = stored[index]
		}
		return hashes, nil
	})
	for number, entry := range entries {
		more, err := tlog.StoredHashes(int64(number), entry, ours)
		must(err, "entry")
		stored = append(stored, more...)
	}
	root, err := tlog.TreeHash(tree.N, ours)
	must(err, "root")
	if root != tree.Hash {
		stop("the entries have the root %s, the checkpoint says %s", root, tree.Hash)
	}
	tiles := tlog.NewTiles(height, 0, tree.N)
	for _, tile := range tiles {
		follows, err := tlog.ReadTileData(tile, ours)
		must(err, "tile")
		if !bytes.Equal(follows, at.get(path(tile), "application/octet-stream")) {
			stop("%s is not what follows from the entries", path(tile))
		}
	}
	fmt.Println("entries", tree.N)
	fmt.Println("tiles", len(tiles))
	fmt.Println("root", tree.Hash)

	// By tiles alone: the older tree is a beginning of this one.
	remote := tlog.TileHashReader(tree, at)
	kept, err := os.ReadFile(os.Args[3])
	must(err, "older checkpoint")
	older := opened(kept, verifier)
	growth, err := tlog.ProveTree(tree.N, older.N, remote)
	must(err, "growth")
	must(tlog.CheckTree(growth, tree.N, tree.Hash, older.N, older.Hash), "older checkpoint")
	fmt.Println("older", older.N)

	// The proof that Go makes of the tiles is the one in our receipt.
	receipt, err := os.ReadFile(os.Args[4])
	must(err, "receipt")
	parts := strings.SplitN(string(receipt), "\n\n", 2)
	lines := strings.Split(parts[0], "\n")
	under := opened([]byte(parts[1]), verifier)
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[2], "index "), 10, 64)
	must(err, "index")
	proof, err := tlog.ProveRecord(under.N, index, tlog.TileHashReader(under, at))
	must(err, "inclusion")
	var written []string
	for _, hash := range proof {
		written = append(written, hash.String())
	}
	if strings.Join(written, "\n") != strings.Join(lines[3:], "\n") {
		stop("the proof is not that of the receipt")
	}
	extra, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(lines[1], "extra "))
	must(err, "extra")
	var content struct{ Entry string }
	must(json.Unmarshal(extra, &content), "extra")
	if content.Entry != string(entries[index]) {
		stop("entry %d is not that of the receipt", index)
	}
	must(tlog.CheckRecord(proof, under.N, under.Hash, index, tlog.RecordHash([]byte(content.Entry))), "receipt")
	fmt.Println("receipt", index)
}
